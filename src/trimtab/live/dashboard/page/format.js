// Numbers as people read them. Nothing known is "–", never 0.
const NONE = "–";
/** Whether a value is a number that means something. */
export const known = (value) => typeof value === "number" && Number.isFinite(value);
const grouped = new Intl.NumberFormat("en-GB", { maximumFractionDigits: 0 });

/** 1234567 is "1,234,567". */
export const count = (value) => (known(value) ? grouped.format(value) : NONE);

/** Three figures at most behind the leading zeros: 0.0123, 4.57, 45.7, 457. */
export const number = (value) => {
  if (!known(value)) return NONE;
  const size = Math.abs(value);
  if (size !== 0 && (size < 0.001 || size >= 1e6)) return value.toExponential(1).replace("-", "−").replace("e+", "e");
  const digits = size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 || size === 0 ? 2 : 3;
  const text = digits ? value.toFixed(digits).replace(/\.?0+$/, "") : grouped.format(value);
  return text.replace("-", "−");
};

/** A time span in seconds: "640 µs", "12.3 ms", "4.57 s", "12 min". */
export const seconds = (value) => {
  if (!known(value)) return NONE;
  const size = Math.abs(value);
  if (size === 0) return "0 s";
  if (size < 0.001) return `${number(value * 1e6)} µs`;
  if (size < 1) return `${number(value * 1e3)} ms`;
  if (size < 120) return `${number(value)} s`;
  return size < 7200 ? `${Math.round(value / 60)} min` : `${number(value / 3600)} h`;
};

export const microseconds = (value) => (known(value) ? seconds(value / 1e6) : NONE);

/** A share of one: 0.123 is "12 %". */
export const percent = (value) => (known(value) ? `${(value * 100).toFixed(0).replace("-", "−")} %` : NONE);

/** Bytes in binary units, as memory is sold. */
export const bytes = (value) => {
  if (!known(value)) return NONE;
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let step = 0;
  while (value >= 1024 && step < units.length - 1) {
    value /= 1024;
    step += 1;
  }
  return `${number(value)} ${units[step]}`;
};

/** Seconds since 1970 as the time of day where the reader is. */
export const clock = (time) => (known(time) ? new Date(time * 1000).toLocaleTimeString("en-GB") : NONE);

/** "1 instance", "2 instances", "0.5 cores". */
export const plural = (amount, word) => `${number(amount)} ${word}${amount === 1 ? "" : "s"}`;

/** Any value of JSON in words: lists and objects as their parts, those that are null left out. */
export const words = (value) => {
  if (Array.isArray(value)) return value.length ? value.map(words).join(", ") : "none";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "number") return number(value);
  if (value === null || value === undefined || value === "") return "none";
  if (typeof value !== "object") return String(value);
  const parts = Object.entries(value).filter(([, part]) => part !== null);
  return parts.map(([name, part]) => `${name} ${words(part)}`).join(", ") || "none";
};
