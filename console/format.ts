/** Formats numbers, sizes and times for people. Pure: the current time is passed in. */

/** A narrow no-break space: keeps a number and its unit on one line. */
const THIN = "\u202f";

/** `1 240`, with thin spaces. */
export function count(n: number): string {
  return String(Math.round(n)).replace(/\B(?=(\d{3})+(?!\d))/g, THIN);
}

/** `3.1 M`: for numbers whose exact digits do not matter. */
export function roughly(n: number): string {
  for (const [unit, at] of [
    ["G", 1e9],
    ["M", 1e6],
    ["k", 1e4],
  ] as const)
    if (Math.abs(n) >= at) return `${short(n / (unit === "k" ? 1e3 : at))}${THIN}${unit}`;
  return count(n);
}

/** `340 ms`, `2.1 s`, `3 min`. */
export function duration(ms: number): string {
  if (ms < 1) return `${ms <= 0 ? 0 : ms.toFixed(1)}${THIN}ms`;
  if (ms < 999.5) return `${Math.round(ms)}${THIN}ms`;
  if (ms < 59_950) return `${short(ms / 1_000)}${THIN}s`;
  if (ms < 3_570_000) return `${Math.round(ms / 60_000)}${THIN}min`;
  if (ms < 172_800_000) return `${short(ms / 3_600_000)}${THIN}h`;
  return `${Math.round(ms / 86_400_000)}${THIN}days`;
}

/** `1.2 KB`. */
export function size(bytes: number): string {
  if (bytes < 1_000) return `${bytes}${THIN}B`;
  if (bytes < 999_500) return `${short(bytes / 1_024)}${THIN}KB`;
  if (bytes < 1_023_000_000) return `${short(bytes / 1_048_576)}${THIN}MB`;
  return `${short(bytes / 1_073_741_824)}${THIN}GB`;
}

/** `0.4 %`. */
export function percent(part: number, whole: number): string {
  const share = whole === 0 ? 0 : (100 * part) / whole;
  return `${share === 0 || share >= 9.95 ? Math.round(share) : share.toFixed(1)}${THIN}%`;
}

/** Made at the first use and kept, because making one takes longer than the rest of a row of a table. */
export function timeFormat(options: Intl.DateTimeFormatOptions): (at: number) => string {
  let format: Intl.DateTimeFormat | undefined;
  return (at) => {
    format ??= new Intl.DateTimeFormat("en-GB", options);
    return format.format(at);
  };
}

const date = timeFormat({ day: "numeric", month: "short", year: "numeric" });

const STEPS: readonly (readonly [below: number, unit: number, name: string])[] = [
  [60_000, 1_000, "s"],
  [3_600_000, 60_000, "min"],
  [86_400_000, 3_600_000, "h"],
  [14 * 86_400_000, 86_400_000, "d"],
];

/** `4 min ago`, `in 3 d`; a date if it is 14 days away or more. */
export function ago(at: number, now: number): string {
  const away = Math.abs(now - at);
  if (away < 2_000) return "just now";
  const step = STEPS.find(([below]) => away < below);
  if (!step) return date(at);
  const text = `${Math.floor(away / step[1])}${THIN}${step[2]}`;
  return at > now ? `in ${text}` : `${text} ago`;
}

/** `18 Nov, 14:05:09`: for lists in which the exact time counts. */
export const dateTime = timeFormat({
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
});

/** `1 h 51 min`, `4 min 5 s`: how long something still lasts, precise enough to wait for. */
export function timeLeft(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  const [days, hours] = [Math.floor(seconds / 86_400), Math.floor((seconds % 86_400) / 3_600)];
  const [minutes, rest] = [Math.floor((seconds % 3_600) / 60), seconds % 60];
  if (days > 0) return `${days}${THIN}d ${hours}${THIN}h`;
  if (hours > 0) return `${hours}${THIN}h ${minutes}${THIN}min`;
  return minutes > 0 ? `${minutes}${THIN}min ${rest}${THIN}s` : `${rest}${THIN}s`;
}

/** Full date and time, for `title` attributes. */
export const exactly = timeFormat({ dateStyle: "full", timeStyle: "long" });

/** `1 server`, `2 servers`. */
export function plural(n: number, one: string, many = `${one}s`): string {
  return `${count(n)} ${n === 1 ? one : many}`;
}

/** Makes a sentence of a reason of the API, which starts with a lower-case letter. */
export function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".");
}

function short(n: number): string {
  return Math.abs(n) < 9.95 ? n.toFixed(1).replace(/\.0$/, "") : String(Math.round(n));
}
