// One chart over time: lines, the policies in force behind them and as a strip below, a text beside.
import { element, setAttribute, setText, shape } from "./dom.js";
import { clock } from "./format.js";
import { look } from "./policies.js";

const HEIGHT = 168;
const EDGE = { left: 52, right: 10, top: 8, bottom: 40 };
const STRIP = 15;
const LONGEST_GAP_S = 2.5; // steps are a second apart: more than this is missing data, and no line is drawn over it
const LETTER = 6.4; // width of a letter in the strip, roughly

/** The smallest of 1, 2, 5 × 10ⁿ that is not below a value. */
export const ceiling = (value) => {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].find((step) => step * power >= value * (1 - 1e-9)) * power;
};

/** The path of a series: a new stroke after each gap, a dot's length where a point stands alone. */
export const path = (times, values, x, y) => {
  let last = null;
  let text = "";
  times.forEach((time, index) => {
    const value = values[index];
    if (value === null || value === undefined) return;
    const joined = last !== null && time - last <= LONGEST_GAP_S;
    const point = `${x(time).toFixed(1)} ${y(value).toFixed(1)}`;
    text += joined ? `L${point}` : `M${point}L${point}`;
    last = time;
  });
  return text;
};

export class Chart {
  #description;
  #drawing;
  #width = 0;

  /** `description`: id, title, format of a value, series of `{key, label, style}`, bars in place of lines or not. */
  constructor(description, pointed) {
    this.#description = description;
    this.#drawing = shape("svg", { role: "img", height: HEIGHT, class: "plot" });
    this.readout = element("span", { class: "readout" });
    const title = element("h3", { id: `${description.id}-title` }, description.title);
    this.figure = element(
      "figure",
      { id: description.id, "aria-labelledby": `${description.id}-title` },
      element("figcaption", {}, title, this.readout),
      this.#drawing,
    );
    this.#drawing.addEventListener("pointermove", (event) => pointed(this.#timeAt(event)));
    this.#drawing.addEventListener("pointerleave", () => pointed(null));
  }

  /** Calls back when the page gives the chart another width. */
  watch(changed) {
    new ResizeObserver(([entry]) => {
      this.#width = Math.floor(entry.contentRect.width);
      changed();
    }).observe(this.#drawing.parentElement);
  }

  /** `view`: from, to, history, segments of policies, and the time that the pointer is on, if any. */
  draw(view) {
    if (this.#width < 80) return;
    this.view = view;
    const inner = this.#width - EDGE.left - EDGE.right;
    const span = view.to - view.from || 1;
    const x = (time) => EDGE.left + (inner * (time - view.from)) / span;
    const top = ceiling(Math.max(0, ...this.#visible(view)));
    const floor = HEIGHT - EDGE.bottom;
    const y = (value) => floor - ((floor - EDGE.top) * Math.min(value, top)) / top;
    setAttribute(this.#drawing, "width", this.#width);
    this.#drawing.replaceChildren(
      ...this.#bands(view, x, floor),
      ...this.#rules(top, y),
      ...this.#ticks(view, x),
      ...this.#lines(view, x, y, floor),
      ...this.#pointer(view, x, floor),
    );
    this.#write(view);
  }

  #timeAt(event) {
    if (!this.view) return null;
    const box = this.#drawing.getBoundingClientRect();
    const share = (event.clientX - box.left - EDGE.left) / (box.width - EDGE.left - EDGE.right);
    return this.view.from + Math.min(Math.max(share, 0), 1) * (this.view.to - this.view.from);
  }

  #visible({ from, history }) {
    return this.#description.series.flatMap(({ key }) =>
      history[key].filter((value, index) => value !== null && history.time[index] >= from),
    );
  }

  #bands({ segments }, x, floor) {
    return segments.flatMap(({ from, to, policy }) => {
      const { colour, ink, hatched } = look(policy);
      const box = { x: x(from), width: Math.max(x(to) - x(from), 1) };
      const strip = { ...box, y: floor + 4, height: STRIP };
      const parts = [
        shape("rect", { ...box, y: EDGE.top, height: floor - EDGE.top, fill: colour, "fill-opacity": 0.13 }),
        shape("rect", { ...strip, fill: colour, class: "band" }, shape("title", {}, policy)),
      ];
      if (hatched) parts.push(shape("rect", { ...strip, fill: "url(#hatch)", "pointer-events": "none" }));
      if (policy.length * LETTER + 8 < box.width) {
        parts.push(shape("text", { x: box.x + 4, y: floor + 15, fill: ink, class: "band-name" }, policy));
      }
      return parts;
    });
  }

  #rules(top, y) {
    return [0, top / 2, top].flatMap((value) => [
      shape("line", { x1: EDGE.left, x2: this.#width - EDGE.right, y1: y(value), y2: y(value), class: "rule" }),
      shape("text", { x: EDGE.left - 6, y: y(value) + 4, class: "tick left" }, this.#description.format(value)),
    ]);
  }

  #ticks({ from, to }, x) {
    const step = [10, 15, 30, 60, 120, 300].find((size) => ((to - from) / size) * 62 < this.#width - EDGE.left) ?? 600;
    const marks = [];
    for (let ago = 0; ago <= to - from + 0.5; ago += step) {
      const words = ago === 0 ? "now" : ago % 60 ? `−${ago} s` : `−${ago / 60} min`;
      const anchor = ago === 0 ? "tick end" : "tick";
      if (ago === 0 || x(to - ago) > EDGE.left + 14)
        marks.push(shape("text", { x: x(to - ago), y: HEIGHT - 6, class: anchor }, words));
    }
    return marks;
  }

  #lines({ history }, x, y, floor) {
    return [
      shape(
        "clipPath",
        { id: `${this.#description.id}-clip` },
        shape("rect", { x: EDGE.left, y: 0, width: this.#width - EDGE.left - EDGE.right, height: HEIGHT }),
      ),
      ...this.#description.series.map(({ key, style }) => {
        const attributes = { class: `line ${style}`, "clip-path": `url(#${this.#description.id}-clip)` };
        const draw = style === "bars" ? bars : path;
        return shape("path", { ...attributes, d: draw(history.time, history[key], x, y, floor) });
      }),
    ];
  }

  #pointer({ pointed }, x, floor) {
    if (pointed === null) return [];
    return [shape("line", { x1: x(pointed), x2: x(pointed), y1: EDGE.top, y2: floor, class: "pointer" })];
  }

  /** The figures of one moment, for the eye; now and the range in words, for those who cannot see the lines. */
  #write(view) {
    const { series, format, title } = this.#description;
    const { history, pointed, policyAt } = view;
    const index = pointed === null ? history.time.length - 1 : nearest(history.time, pointed);
    const at = ({ key, label }) => `${label ? `${label} ` : ""}${format(history[key][index] ?? NaN)}`;
    const moment = pointed === null ? "" : `${clock(history.time[index])} · ${policyAt(history.time[index]) ?? ""} · `;
    setText(this.readout, index < 0 ? "–" : moment + series.map(at).join(" · "));
    const words = series.map(({ key, label }) => {
      const values = history[key].filter((value, place) => value !== null && history.time[place] >= view.from);
      const range = values.length ? `${format(Math.min(...values))} to ${format(Math.max(...values))}` : "no data";
      return `${label ? `${label}: ` : ""}now ${format(history[key].at(-1) ?? NaN)}, range ${range}`;
    });
    setAttribute(
      this.#drawing,
      "aria-label",
      `${title} of the last ${Math.round(view.to - view.from)} seconds. ${words.join("; ")}`,
    );
  }
}

const bars = (times, values, x, y, floor) =>
  times
    .map((time, index) => (values[index] > 0 ? `M${x(time).toFixed(1)} ${floor}V${y(values[index]).toFixed(1)}` : ""))
    .join("");

/** The index of the time that is closest; −1 where there is none. */
export const nearest = (times, time) => {
  let best = times.length - 1;
  times.forEach((candidate, index) => {
    if (Math.abs(candidate - time) < Math.abs(times[best] - time)) best = index;
  });
  return best;
};
