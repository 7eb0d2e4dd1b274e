// The charts: one window of time, one pointer and one set of bands for all of them; and the same as a table.
import { byId, cells, element, keyed } from "./dom.js";
import { clock, number, seconds } from "./format.js";
import { drawLegend, inForce, segments } from "./bands.js";
import { Chart } from "./chart.js";

const CHARTS = [
  { id: "chart-inflight", title: "In-flight requests", format: number, series: [{ key: "inflight", style: "first" }] },
  { id: "chart-rate", title: "Requests per second", format: number, series: [{ key: "rate", style: "first" }] },
  {
    id: "chart-latency",
    title: "Latency",
    format: seconds,
    series: [
      { key: "p50", label: "p50", style: "first" },
      { key: "p95", label: "p95", style: "second" },
    ],
  },
  { id: "chart-cold", title: "Cold starts per second", format: number, series: [{ key: "cold", style: "bars" }] },
];
const SHORTEST_S = 60;
const STEPS = 12; // rows of the table, whatever the window

let charts = [];
let history = { time: [], inflight: [], rate: [], p50: [], p95: [], cold: [], cpu: {}, bands: [] };
let pointed = null;

export const windowSeconds = () => Number(byId("window").value);

// a platform that has just started fills the charts, not their last corner
const shownSeconds = () => {
  const known = history.time.length ? history.time.at(-1) - history.time[0] : 0;
  return Math.min(windowSeconds(), Math.max(known, SHORTEST_S));
};

/** Puts the charts into the page; they draw themselves again when its width changes. */
export const startTimeline = (windowChanged) => {
  const point = (time) => {
    pointed = time;
    draw();
  };
  charts = CHARTS.map((description) => new Chart(description, point));
  byId("figures").append(...charts.map((chart) => chart.figure));
  charts.forEach((chart) => chart.watch(draw));
  byId("window").addEventListener("change", windowChanged);
  byId("series-details").addEventListener("toggle", drawTable);
};

export const showHistory = (latest) => {
  history = latest;
  draw();
};

const draw = () => {
  const to = history.time.at(-1) ?? 0;
  const from = to - shownSeconds();
  const parts = segments(history.bands, from, to);
  const view = { from, to, history, pointed, segments: parts, policyAt: (time) => inForce(history.bands, time) };
  charts.forEach((chart) => chart.draw(view));
  drawLegend(byId("bands-legend"), parts);
  drawTable();
};

const mean = (values) => {
  const known = values.filter((value) => typeof value === "number");
  return known.length ? known.reduce((sum, value) => sum + value, 0) / known.length : NaN;
};

const drawTable = () => {
  if (!byId("series-details").open) return;
  const width = shownSeconds() / STEPS;
  const end = history.time.at(-1) ?? 0;
  const rows = Array.from({ length: STEPS }, (_, step) => {
    const inside = (_value, index) => {
      const ago = end - history.time[index];
      return ago >= step * width && ago < (step + 1) * width;
    };
    const over = (key) => mean(history[key].filter(inside));
    const to = end - step * width;
    return [
      clock(to),
      number(over("inflight")),
      number(over("rate")),
      seconds(over("p50")),
      seconds(over("p95")),
      number(over("cold")),
      inForce(history.bands, to) ?? "–",
    ];
  });
  keyed(
    byId("series").tBodies[0],
    rows.entries(),
    ([index]) => index,
    () => element("tr"),
    (row, [, texts]) => cells(row, texts),
  );
};
