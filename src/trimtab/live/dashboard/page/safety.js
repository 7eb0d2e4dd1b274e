// Guards that stepped in, the shadow's record, and the isolation in force.
import { byId, definitions } from "./dom.js";
import { count, known, percent, plural, seconds, words } from "./format.js";

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
  definitions(byId("shadow"), shadowFacts(state.shadow, state.scale_shadow));
};

/** Agreement and what each shadow expects to gain, as far as they are known: time in placing, instances in scaling. */
export const shadowFacts = (place, scale) => {
  if (!place && !scale) return [["No shadow runs", ""]];
  return [
    ...(place ? facts(place, "Policy", "Agrees", "Predicted gain", seconds) : []),
    ...(scale ? facts(scale, "Scale policy", "Scale agrees", "Predicted saving", instances) : []),
  ];
};

const instances = (amount) => plural(amount, "instance");

const facts = ({ policy, decisions, agreed, predicted_gain: gain }, name, agrees, gains, unit) => [
  [name, policy],
  [agrees, decisions ? `${percent(agreed / decisions)} of ${count(decisions)} decisions` : "no decision yet"],
  [gains, known(gain) ? `${unit(gain)} a decision` : "–"],
];
