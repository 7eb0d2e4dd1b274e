// A card for each server: its load, its instances by function and state, and on demand every metric.
import { byId, cells, definitions, element, keyed, setAttribute, setText, shape } from "./dom.js";
import { bytes, count, number, percent, plural } from "./format.js";
import { path } from "./chart.js";

// A state is told by its shape and its name; colour only helps.
const STATES = { busy: "■", idle: "○", starting: "△" };

export const startServers = () =>
  byId("states-legend").append(
    "Instances: ",
    ...Object.entries(STATES).map(([name, sign]) => element("span", { class: "entry" }, mark(name, sign), name)),
  );

const mark = (state, sign = STATES[state] ?? "◇") =>
  element("span", { class: `sign ${state in STATES ? state : ""}`, "aria-hidden": "true" }, sign);

export const showServers = (servers, history) => {
  keyed(
    byId("servers"),
    servers,
    (server) => server.name,
    card,
    (child, server) => update(child, server, history),
  );
  byId("servers-empty").hidden = servers.length > 0;
  byId("states-legend").hidden = !servers.length;
  setText(
    byId("servers-empty"),
    servers.length ? "" : "No server is up. The gateway starts them; its log says why it could not.",
  );
};

const card = (server) =>
  element(
    "li",
    { class: "card" },
    element("div", { class: "card-head" }, element("h3", {}, server.name), element("span", { class: "alive" })),
    bar("CPU", `${server.name} CPU`),
    bar("Memory", `${server.name} memory`),
    shape(
      "svg",
      { class: "spark", viewBox: "0 0 100 24", preserveAspectRatio: "none", "aria-hidden": "true" },
      shape("path", { class: "line first", "vector-effect": "non-scaling-stroke" }),
    ),
    element("p", { class: "work" }),
    element("ul", { class: "instances" }),
    element("details", {}, element("summary", {}, "Processes and metrics"), element("div", { class: "inside" })),
  );

const bar = (word, label) =>
  element(
    "div",
    { class: "load" },
    element("span", { "aria-hidden": "true" }, word),
    element(
      "div",
      { class: "meter", role: "meter", "aria-label": label, "aria-valuemin": 0, "aria-valuemax": 100 },
      element("i"),
    ),
    element("span", { class: "amount", "aria-hidden": "true" }),
  );

const setBar = (load, value, text) => {
  const [, meter, amount] = load.children;
  const size = Math.round(100 * Math.min(Math.max(value || 0, 0), 1));
  setAttribute(meter, "aria-valuenow", size);
  setAttribute(meter, "aria-valuetext", text);
  setAttribute(meter, "data-level", size >= 90 ? "full" : size >= 70 ? "high" : "low");
  meter.firstElementChild.style.width = `${size}%`;
  setText(amount, text);
};

const update = (child, server, history) => {
  const alive = child.querySelector(".alive");
  setText(alive, server.alive ? "✓ up" : "✕ down");
  child.classList.toggle("down", !server.alive);
  const [cpu, memory] = child.querySelectorAll(".load");
  setBar(cpu, server.cpu, `${percent(server.cpu)} of ${plural(server.cores, "core")}`);
  setBar(
    memory,
    server.memory_used / server.memory_bytes,
    `${bytes(server.memory_used)} of ${bytes(server.memory_bytes)}`,
  );
  spark(child.querySelector(".spark path"), history, server.name);
  // instances reserve their memory whether they use it or not; when it is all taken, calls wait
  const reserved = server.memory_reserved === undefined ? "" : `, ${bytes(server.memory_reserved)} reserved`;
  setText(
    child.querySelector(".work"),
    `${count(server.inflight)} in flight, ${count(server.queued)} queued${reserved}`,
  );
  showInstances(child.querySelector(".instances"), server.instances);
  const details = child.querySelector("details");
  details.ontoggle = () => showInside(details, server);
  showInside(details, server);
};

const spark = (line, history, name) => {
  const values = history.cpu[name] ?? [];
  const from = history.time[0];
  const span = history.time.at(-1) - from || 1;
  setAttribute(
    line,
    "d",
    path(
      history.time,
      values,
      (time) => (100 * (time - from)) / span,
      (value) => 23 - 22 * Math.min(value, 1),
    ),
  );
};

const showInstances = (list, instances) => {
  const groups = new Map();
  instances.forEach(({ function: name, state }) => {
    const counts = groups.get(name) ?? {};
    counts[state] = (counts[state] ?? 0) + 1;
    groups.set(name, counts);
  });
  const entries = groups.size ? [...groups].sort(([a], [b]) => a.localeCompare(b)) : [["", null]];
  keyed(
    list,
    entries,
    ([name]) => name,
    () => element("li"),
    (item, [name, counts]) => {
      const known = counts ? `${name} ${JSON.stringify(counts)}` : "none";
      if (item.dataset.shown === known) return;
      item.dataset.shown = known;
      item.replaceChildren(...(counts ? [element("b", {}, name), ...chips(counts)] : ["No instance yet."]));
    },
  );
};

const chips = (counts) =>
  Object.entries(counts)
    .sort()
    .map(([state, amount]) => element("span", { class: "chip" }, mark(state), ` ${amount} ${state}`));

const showInside = (details, server) => {
  if (!details.open) return;
  const inside = details.querySelector(".inside");
  if (!inside.firstElementChild) inside.append(processes(server.name), element("dl", { class: "facts" }));
  keyed(
    inside.querySelector("tbody"),
    server.instances,
    (instance) => instance.id,
    () => element("tr"),
    (row, instance) =>
      cells(row, [
        String(instance.pid ?? "–"),
        instance.function,
        instance.state,
        percent(instance.cpu),
        bytes(instance.memory_bytes),
      ]),
  );
  definitions(
    inside.querySelector("dl"),
    Object.entries(server.metrics ?? {}).map(([name, value]) => [name, number(value)]),
  );
};

const processes = (name) =>
  element(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": `Processes of ${name}` },
    element(
      "table",
      {},
      element("caption", {}, element("span", {}, `Processes of ${name}`)),
      element(
        "thead",
        {},
        element(
          "tr",
          {},
          ...["Process", "Function", "State", "CPU", "Memory"].map((head) => element("th", { scope: "col" }, head)),
        ),
      ),
      element("tbody"),
    ),
  );
