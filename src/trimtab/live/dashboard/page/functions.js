// The functions that are deployed, or how to deploy one.
import { byId, cells, element, keyed } from "./dom.js";
import { count, seconds } from "./format.js";

const COMMANDS = ["trimtab deploy examples/functions/fibonacci.py", "trimtab invoke fibonacci '{\"size\": 20}'"];

export const startFunctions = () =>
  byId("functions-empty").append(
    element("p", {}, "No function is deployed yet. Type this in a terminal, and watch it arrive here:"),
    element("pre", { tabindex: 0 }, element("code", {}, COMMANDS.join("\n"))),
  );

export const showFunctions = (functions) => {
  const table = byId("functions");
  table.parentElement.hidden = !functions.length;
  byId("functions-empty").hidden = functions.length > 0;
  keyed(
    table.tBodies[0],
    functions,
    (each) => each.name,
    () => element("tr"),
    (row, each) =>
      cells(row, [
        each.name,
        ...["instances", "inflight", "queued", "arrivals", "completions", "failures", "cold_starts"].map((key) =>
          count(each[key]),
        ),
        ...["p50", "p95", "p99"].map((key) => seconds(each.latency?.[key])),
      ]),
  );
};
