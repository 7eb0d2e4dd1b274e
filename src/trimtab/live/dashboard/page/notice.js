// What a person should hear of: a banner for trouble, a quiet word for changes.
import { byId, element, setAttribute, setText } from "./dom.js";

const QUIET_MS = 2000; // a screen reader is given time to finish

let waiting = [];
let timer = null;

/** Says a change politely; what comes within two seconds is said together. */
export const announce = (text) => {
  if (!waiting.includes(text)) waiting.push(text);
  timer ??= setTimeout(() => {
    byId("announcer").textContent = waiting.join(" ");
    waiting = [];
    timer = null;
  }, QUIET_MS);
};

/** The state of the connection: live, paused, waiting or gone. */
export const setStatus = (state) => {
  setAttribute(byId("status"), "data-state", state);
  setText(byId("status"), state);
  document.body.classList.toggle("stale", state === "gone");
};

/** Trouble, with what happens next; `retry` is offered as a button. The alert is spoken once, not at each attempt. */
export const showBanner = (text, next, retry) => {
  const banner = byId("banner");
  if (banner.hidden) {
    const details = element("span", { "aria-live": "off" });
    banner.replaceChildren(
      element("strong", {}),
      details,
      element("button", { type: "button", onclick: retry }, "Try now"),
    );
    banner.hidden = false;
  }
  setText(banner.children[0], text);
  setText(banner.children[1], next);
};

export const hideBanner = () => {
  byId("banner").hidden = true;
};

/** Something that a person did is under way. */
export const showPending = () => {
  byId("outcome").hidden = false;
  setText(byId("outcome"), "… asking the gateway");
  setAttribute(byId("outcome"), "data-good", true);
};

/** The answer to something that a person did, beside the buttons. */
export const showOutcome = (text, good) => {
  const outcome = byId("outcome");
  outcome.hidden = false;
  setText(outcome, `${good ? "✓" : "✕"} ${text}`);
  setAttribute(outcome, "data-good", good);
  announce(text);
};
