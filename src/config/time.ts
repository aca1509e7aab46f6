/** Parses durations as people write them. */

/** The longest delay of a timer; a longer one would fire at once. */
export const MAX_TIMER_MS = 2_147_483_647;

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const WRITTEN = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/;
const PART = /(\d+(?:\.\d+)?)(ms|s|m|h|d)/g;

/** Milliseconds of `30000`, `"30000"`, `"500ms"`, `"30s"`, `"1h30m"`; undefined for anything else. */
export function parseTime(value: unknown): number | undefined {
  const ms = typeof value === "number" ? value : typeof value === "string" ? read(value.trim()) : undefined;
  return ms !== undefined && Number.isSafeInteger(ms) && ms >= 0 && ms <= MAX_TIMER_MS ? ms : undefined;
}

function read(text: string): number | undefined {
  if (/^\d+$/.test(text)) return Number(text);
  if (!WRITTEN.test(text)) return undefined;
  let ms = 0;
  for (const [, amount, unit] of text.matchAll(PART))
    ms += Number(amount) * (UNIT_MS[unit ?? ""] ?? Number.NaN);
  return Math.round(ms);
}
