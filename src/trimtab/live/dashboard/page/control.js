// What a person can do: switch a policy, run another in its shadow, start and stop a demo load.
import { byId, element, keyed, options, setText } from "./dom.js";
import { count, seconds } from "./format.js";
import { Refused, get, send } from "./gateway.js";
import { showOutcome, showPending } from "./notice.js";

let act = async () => {};

/** `acted(error)` is called after each action, so that the page asks anew or asks for the token. */
export const startControl = (acted) => {
  act = async (work, done) => {
    showPending();
    try {
      await work();
      showOutcome(done, true);
      acted(null);
    } catch (error) {
      showOutcome(error instanceof Refused ? error.message : `The gateway did not answer: ${error.message}`, false);
      acted(error);
    }
  };
  byId("shadow-form").addEventListener("submit", startShadow);
  byId("shadow-stop").addEventListener("click", stopShadow);
  byId("demo-form").addEventListener("submit", startDemo);
  byId("demo-stop").addEventListener("click", () =>
    act(() => send("DELETE", "/v1/demo"), "The demo load was stopped."),
  );
};

/** The choices: policies of each decision that can be switched, and what the gateway says of demo loads. */
export const askChoices = async () => {
  const [policies, demo] = await Promise.all([offered("/v1/policies"), offered("/v1/demo")]);
  return { policies: policies ?? {}, demo };
};

// a platform without this part answers 404; the page then leaves it out
const offered = (path) =>
  get(path).catch((error) => {
    if (error instanceof Refused && error.status === 404) return null;
    throw error;
  });

export const showControl = (state, { policies, demo }) => {
  const decisions = Object.entries(policies).filter(([, names]) => Array.isArray(names) && names.length);
  keyed(
    byId("policies"),
    decisions,
    ([decision]) => decision,
    policyForm,
    (form, [decision, names]) => showPolicy(form, decision, names, state.policies[decision] ?? null),
  );
  byId("policies-hint").hidden = !decisions.length;
  showShadow(state, decisions);
  showDemo(demo, state.scenario);
};

const policyForm = ([decision]) => {
  const select = element("select", {
    id: `policy-${decision}`,
    onchange: () => {
      select.dataset.chosen = select.value;
    },
  });
  const form = element(
    "form",
    { class: "choice" },
    element("label", { for: select.id }, decision, element("span", { class: "hint" })),
    element("div", { class: "row" }, select, element("button", { type: "submit" }, "Switch")),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const policy = select.value || null;
    delete select.dataset.chosen;
    act(
      () => send("POST", "/v1/policy", { decision, policy, shadow: false }),
      `${decision} is now decided by ${policy ?? "nobody"}.`,
    );
  });
  return form;
};

const showPolicy = (form, decision, names, active) => {
  const select = form.querySelector("select");
  // every call must go somewhere, but nobody has to scale
  if (decision === "place") options(select, names);
  else options(select, ["", ...names], ["none", ...names]);
  setText(form.querySelector(".hint"), active === null ? " · none in force" : ` · ${active} in force`);
  // a choice that was not sent yet must not be undone by the next answer
  if (!("chosen" in select.dataset) && (active === null || names.includes(active))) select.value = active ?? "";
};

const showShadow = (state, decisions) => {
  // selecting has none: what calls would have come to under another choice cannot be told
  const shadowed = decisions.filter(([decision]) => decision !== "select");
  const choices = shadowed.flatMap(([decision, names]) => names.map((name) => `${decision}/${name}`));
  options(byId("shadow-policy"), choices);
  const running = [...(state.shadow ? ["place"] : []), ...(state.scale_shadow ? ["scale"] : [])];
  byId("shadow-stop").dataset.running = running.join(" ");
  byId("shadow-stop").hidden = !running.length;
  byId("shadow-form").hidden = !choices.length;
};

const startShadow = (event) => {
  event.preventDefault();
  const [decision, policy] = split(byId("shadow-policy").value);
  act(
    () => send("POST", "/v1/policy", { decision, policy, shadow: true }),
    `${policy} decides in the shadow of ${decision}.`,
  );
};

const stopShadow = () => {
  const running = byId("shadow-stop").dataset.running.split(" ").filter(Boolean);
  const stop = (decision) => send("POST", "/v1/policy", { decision, policy: null, shadow: true });
  act(() => Promise.all(running.map(stop)), "The shadow policy was stopped.");
};

const split = (text) => [text.slice(0, text.indexOf("/")), text.slice(text.indexOf("/") + 1)];

const showDemo = (demo, own) => {
  byId("demo-form").closest(".panel").hidden = !demo;
  if (!demo) return;
  options(byId("demo-scenario"), demo.scenarios ?? (own ? [own] : []));
  byId("demo-start").hidden = demo.running;
  byId("demo-stop").hidden = !demo.running;
  const sent = `${count(demo.sent)} requests sent${demo.failed ? `, ${count(demo.failed)} failed` : ""}`;
  const running = `${demo.scenario} runs for ${seconds(demo.seconds)}: ${sent}.`;
  setText(byId("demo-status"), demo.running ? running : "None is running. It ends by itself after the time given.");
};

const startDemo = (event) => {
  event.preventDefault();
  const scenario = byId("demo-scenario").value;
  const length = Number(byId("demo-seconds").value);
  act(() => send("POST", "/v1/demo", { scenario, seconds: length }), `The demo load ${scenario} runs for ${length} s.`);
};
