// The dashboard: asks the gateway every second and hands the answers to the parts of the page.
import { byId, shape } from "./dom.js";
import { clock, seconds } from "./format.js";
import { Refused, Unreachable, get, hasToken, useToken } from "./gateway.js";
import { announce, hideBanner, setStatus, showBanner } from "./notice.js";
import { askChoices, showControl, startControl } from "./control.js";
import { changes } from "./changes.js";
import { Poller } from "./poll.js";
import { showDecisions, startDecisions } from "./decisions.js";
import { showFunctions, startFunctions } from "./functions.js";
import { showHistory, startTimeline, windowSeconds } from "./timeline.js";
import { showSafety } from "./safety.js";
import { showServers, startServers } from "./servers.js";
import { showTiles } from "./tiles.js";
import { startTheme } from "./theme.js";

const LAST_DECISIONS = 25;

let before = null;
let goneSince = null;
let locked = false; // whether even reading needs the token; otherwise only actions do

const ask = async () => {
  const [state, history, { decisions }, choices] = await Promise.all([
    get("/v1/state"),
    get(`/v1/history?seconds=${windowSeconds()}`),
    get(`/v1/decisions?limit=${LAST_DECISIONS}`),
    askChoices(),
  ]);
  show(state, history, decisions, choices);
  back();
};

const show = (state, history, decisions, choices) => {
  changes(before, state).forEach(announce);
  before = state;
  showTiles(state, history);
  showHistory(history);
  showControl(state, choices);
  showServers(state.servers, history);
  showFunctions(state.functions);
  showDecisions(decisions);
  showSafety(state);
};

const back = () => {
  if (goneSince !== null) announce("The gateway is back.");
  goneSince = null;
  hideBanner();
  if (locked) byId("token-form").hidden = true;
  locked = false;
  setStatus(poller.paused ? "paused" : "live");
};

const failed = (error, wait) => {
  setStatus("gone");
  locked = wantsToken(error);
  if (locked) return;
  goneSince ??= Date.now() / 1000;
  showBanner(trouble(error), ` Figures are of ${clock(goneSince)}. Next attempt in ${seconds(wait / 1000)}. `, () =>
    poller.now(),
  );
};

const trouble = (error) => {
  if (error instanceof Refused) return `The gateway refuses: ${error.message}.`;
  if (error instanceof Unreachable) return "The gateway does not answer. Is “trimtab live” still running?";
  return `The page cannot show the gateway's answer: ${error.message}.`;
};

const wantsToken = (error) => {
  if (!(error instanceof Refused) || error.status !== 401) return false;
  if (byId("token-form").hidden) {
    byId("token-refused").hidden = !hasToken();
    byId("token-form").hidden = false;
    byId("token").focus();
    announce(hasToken() ? "That token was refused." : "The gateway asks for its token.");
  }
  return true;
};

const start = () => {
  document.body.append(hatch());
  startTheme();
  startTimeline(() => poller.now());
  startServers();
  startFunctions();
  startDecisions();
  startControl((error) => wantsToken(error) || poller.now());
  byId("pause").addEventListener("click", pause);
  byId("token-form").addEventListener("submit", (event) => {
    event.preventDefault();
    useToken(byId("token").value.trim());
    byId("token-form").hidden = true;
    poller.now();
  });
  poller.now();
};

const pause = () => {
  const paused = !poller.paused;
  byId("pause").setAttribute("aria-pressed", String(paused));
  setStatus(paused ? "paused" : "waiting");
  poller.pause(paused);
};

/** Stripes for policies beyond the six colours; every chart refers to them. */
const hatch = () =>
  shape(
    "svg",
    { width: 0, height: 0, class: "unseen", "aria-hidden": "true" },
    shape(
      "pattern",
      { id: "hatch", width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
      shape("rect", { width: 2, height: 6, fill: "#000000", "fill-opacity": 0.35 }),
    ),
  );

const poller = new Poller(ask, failed);
start();
