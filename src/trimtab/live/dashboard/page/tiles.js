// The figures of this moment, large.
import { byId, element, keyed, setText } from "./dom.js";
import { count, number, plural, seconds } from "./format.js";

const sum = (items, key) => items.reduce((total, item) => total + (item[key] ?? 0), 0);

export const showTiles = (state, history) => {
  const { servers, functions } = state;
  const instances = servers.flatMap((server) => server.instances);
  const busy = instances.filter((instance) => instance.state === "busy").length;
  const tiles = [
    ["In flight", count(sum(servers, "inflight")), `${count(sum(servers, "queued"))} queued`],
    ["Requests/s", number(history.rate.at(-1)), `${count(sum(functions, "completions"))} completed`],
    ["Latency p50", seconds(history.p50.at(-1)), "last second"],
    ["Latency p95", seconds(history.p95.at(-1)), "last second"],
    [
      "Cold starts",
      count(sum(functions, "cold_starts")),
      share(sum(functions, "cold_starts"), sum(functions, "arrivals")),
    ],
    ["Failed", count(sum(functions, "failures")), share(sum(functions, "failures"), sum(functions, "arrivals"))],
    ["Instances", count(instances.length), `${count(busy)} busy`],
    ["Servers up", count(servers.filter((server) => server.alive).length), `of ${count(servers.length)}`],
  ];
  keyed(
    byId("tiles"),
    tiles,
    ([name]) => name,
    ([name]) => tile(name),
    (child, [, value, more]) => {
      setText(child.querySelector(".value"), value);
      setText(child.querySelector(".more"), more);
    },
  );
  setText(
    byId("about"),
    `${plural(servers.length, "server")}, ${plural(functions.length, "function")}, ` +
      `up for ${seconds(Math.max(Math.round(state.uptime_s), 1))}.`,
  );
};

const share = (part, whole) => (whole ? `${number((100 * part) / whole)} % of arrivals` : "of no arrivals");

const tile = (name) =>
  element("div", {}, element("dt", {}, name), element("dd", { class: "value" }), element("dd", { class: "more" }));
