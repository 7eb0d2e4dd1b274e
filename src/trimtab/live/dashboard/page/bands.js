// Which policy was in force when: [[since, name], …] as segments of a window, and their legend.
import { element, keyed, setText } from "./dom.js";
import { percent } from "./format.js";
import { swatch } from "./policies.js";

/** Segments `{from, to, policy}` within a window, neighbours of the same policy joined. */
export const segments = (bands, from, to) => {
  const found = [];
  bands.forEach(([since, policy], index) => {
    const start = Math.max(since, from);
    const end = Math.min(index + 1 < bands.length ? bands[index + 1][0] : to, to);
    const last = found.at(-1);
    if (policy === null || end <= start) return;
    if (last && last.policy === policy && last.to === start) last.to = end;
    else found.push({ from: start, to: end, policy });
  });
  return found;
};

/** The policy in force at a time; null where none is known. */
export const inForce = (bands, time) => bands.findLast(([since]) => since <= time)?.[1] ?? null;

/** Each policy of the window with its share of the time, in the order in which they appear. */
export const shares = (parts) => {
  const total = parts.reduce((sum, part) => sum + part.to - part.from, 0);
  const spans = new Map();
  parts.forEach((part) => spans.set(part.policy, (spans.get(part.policy) ?? 0) + part.to - part.from));
  return [...spans].map(([policy, span]) => [policy, span / total]);
};

export const drawLegend = (parent, parts) =>
  keyed(
    parent,
    shares(parts),
    ([policy]) => policy,
    ([policy]) => element("span", { class: "entry" }, swatch(policy), policy, element("small")),
    (child, [, share]) => setText(child.lastElementChild, percent(share)),
  );
