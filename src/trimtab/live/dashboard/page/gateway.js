// The gateway's HTTP interface: JSON, a time limit on every call, and the token once it was asked for.
const TIMEOUT_MS = 5000;
const ACTION_TIMEOUT_MS = 120000; // a policy that was never used before is compiled first
const KEEP = "trimtab-token"; // for this tab alone, so that a reload does not ask again

/** The gateway answered, and the answer was no. */
export class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** No answer came, or not all of it, or not in time. */
export class Unreachable extends Error {}

let token = sessionStorage.getItem(KEEP);

export const useToken = (text) => {
  token = text;
  sessionStorage.setItem(KEEP, text);
};

export const hasToken = () => Boolean(token);

export const get = (path) => call("GET", path);
export const send = (method, path, body = {}) => call(method, path, body);

const call = async (method, path, body) => {
  const headers = { Accept: "application/json" };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (token) headers.Authorization = `Bearer ${token}`;
  const { status, text } = await exchange(path, {
    method,
    headers,
    body: body === undefined ? undefined : JSON.stringify(body),
    cache: "no-store",
    credentials: "omit",
    redirect: "error",
    signal: AbortSignal.timeout(method === "GET" ? TIMEOUT_MS : ACTION_TIMEOUT_MS),
  });
  const answer = parsed(text);
  if (status >= 400) throw new Refused(status, answer?.error ?? `the gateway answered ${status}`);
  if (answer === undefined) throw new Error(`${path} is not JSON`);
  return answer;
};

const exchange = async (path, request) => {
  try {
    const response = await fetch(path, request);
    return { status: response.status, text: await response.text() };
  } catch (error) {
    throw new Unreachable(error.message);
  }
};

/** null for an empty text, undefined for one that is not JSON. */
const parsed = (text) => {
  try {
    return text ? JSON.parse(text) : null;
  } catch {
    return undefined;
  }
};
