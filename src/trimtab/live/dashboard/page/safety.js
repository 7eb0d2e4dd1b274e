// Guards that stepped in, the shadow's record, and the isolation in force.
import { byId, definitions } from "./dom.js";
import { count, known, percent, seconds, words } from "./format.js";

export const showSafety = (state) => {
  const guards = Object.entries(state.guards ?? {})
    .filter(([, times]) => times > 0)
    .sort((a, b) => b[1] - a[1]);
  definitions(
    byId("guards"),
    guards.length ? guards.map(([reason, times]) => [reason, `${count(times)} ×`]) : [["None so far", ""]],
  );
  definitions(
    byId("isolation"),
    Object.entries(state.isolation ?? {}).map(([name, value]) => [name, words(value)]),
  );
  definitions(byId("shadow"), shadowFacts(state.shadow));
};

/** Agreement and what the shadow expects to gain, as far as they are known. */
export const shadowFacts = (shadow) => {
  if (!shadow) return [["No shadow runs", ""]];
  const { policy, decisions, agreed, predicted_gain: gain } = shadow;
  const agreement = decisions ? `${percent(agreed / decisions)} of ${count(decisions)} decisions` : "no decision yet";
  return [
    ["Policy", policy],
    ["Agrees", agreement],
    ["Predicted gain", known(gain) ? `${seconds(gain)} a decision` : "–"],
  ];
};
