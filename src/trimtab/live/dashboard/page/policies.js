// One look for each policy, the same wherever it appears: Okabe and Ito's colours, then the same ones hatched.
import { element } from "./dom.js";

const CYCLE = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00"];
const known = new Map();

/**
 * `{colour, ink, hatched}`: the fill, a colour of text that can be read on it, and whether stripes go over it.
 * `place/rank` and `rank` look the same.
 */
export const look = (name) => {
  const policy = name.slice(name.indexOf("/") + 1);
  if (!known.has(policy)) {
    const index = known.size;
    const colour = CYCLE[index % CYCLE.length];
    const hatched = Math.floor(index / CYCLE.length) % 2 === 1;
    known.set(policy, { colour, ink: colour === CYCLE[0] ? "#ffffff" : "#000000", hatched });
  }
  return known.get(policy);
};

/** A small square in a policy's look; its name must stand beside it. */
export const swatch = (policy) => {
  const { colour, hatched } = look(policy);
  const square = element("span", { class: hatched ? "swatch hatched" : "swatch", "aria-hidden": "true" });
  square.style.backgroundColor = colour;
  return square;
};

/** A policy's name behind its square. */
export const named = (policy) => element("span", { class: "named" }, swatch(policy), policy);
