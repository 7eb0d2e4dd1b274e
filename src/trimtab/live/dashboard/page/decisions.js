// What was decided last, by whom, with which score for each candidate, and what a guard or the shadow said.
import { byId, cells, element, keyed, options, setText } from "./dom.js";
import { clock, microseconds, number, words } from "./format.js";
import { named } from "./policies.js";

const MOST_SCORES = 8; // of a cluster of hundreds, the best ones and the chosen one are enough to read

let latest = [];

export const startDecisions = () => byId("decision-kind").addEventListener("change", draw);

export const showDecisions = (decisions) => {
  latest = [...decisions].sort((a, b) => b.id - a.id);
  draw();
};

const draw = () => {
  const filter = byId("decision-kind");
  const kinds = [
    ...new Set([...latest.map((decision) => decision.kind), ...(filter.value ? [filter.value] : [])]),
  ].sort();
  options(filter, ["", ...kinds], ["all kinds", ...kinds]);
  const shown = latest.filter((decision) => !filter.value || decision.kind === filter.value);
  const table = byId("decisions");
  table.parentElement.hidden = !shown.length;
  byId("decisions-empty").hidden = shown.length > 0;
  setText(
    byId("decisions-empty"),
    shown.length ? "" : "No decision yet: each invocation brings one. Start a demo load above.",
  );
  // a decision never changes: its row is written once
  keyed(table.tBodies[0], shown, (decision) => decision.id, row);
};

const row = (decision) => {
  const scored = scores(decision);
  const made = element("tr", {
    role: "row",
    class: `${decision.guard ? "guarded" : ""} ${scored === "–" ? "unscored" : ""}`,
  });
  cells(made, [
    clock(decision.time),
    decision.kind,
    decision.function ?? "–",
    named(decision.policy ?? "–"),
    words(decision.chosen),
    scored,
    microseconds(decision.microseconds),
    remarks(decision),
  ]);
  // on a phone the cells are laid out anew, and a browser may then no longer take them for a table's
  [...made.cells].forEach((cell, index) => cell.setAttribute("role", index ? "cell" : "rowheader"));
  return made;
};

/** Candidates as `{name, score, chosen}`, best first; the chosen one is among the first whatever its score. */
export const ranked = ({ candidates, scores: values, chosen }) => {
  const all = (candidates ?? []).map((name, index) => ({
    name: String(name),
    score: values?.[index] ?? null,
    chosen: String(name) === String(chosen),
  }));
  const order = (entry) => entry.score ?? -Infinity;
  return all.sort((a, b) => order(b) - order(a) || b.chosen - a.chosen);
};

const scores = (decision) => {
  const all = ranked(decision);
  if (!all.some((entry) => entry.score !== null)) return "–";
  const first = all.slice(0, MOST_SCORES);
  const chosen = all.find((entry) => entry.chosen);
  if (chosen && !first.includes(chosen)) first.push(chosen);
  const rest = all.length - first.length;
  return element(
    "ul",
    { class: "scores" },
    ...first.map(score),
    ...(rest ? [element("li", {}, `and ${rest} more`)] : []),
  );
};

const score = (entry) => {
  const text = `${entry.name} ${number(entry.score)}`;
  if (!entry.chosen) return element("li", {}, text);
  return element(
    "li",
    { class: "chosen" },
    element("span", { class: "mark", "aria-hidden": "true" }, "▶ "),
    text,
    element("span", { class: "unseen" }, " (chosen)"),
  );
};

const remarks = ({ guard, shadow, chosen }) => {
  const said = [];
  if (guard) said.push(element("span", { class: "guard" }, `⚠ guard: ${guard}`));
  if (shadow) {
    const same = shadow.agrees ?? String(shadow.chosen) === String(chosen);
    said.push(element("span", {}, same ? `= ${shadow.policy} agrees` : `≠ ${shadow.policy}: ${words(shadow.chosen)}`));
  }
  return said.length ? element("span", { class: "remarks" }, ...said) : "–";
};
