/** Axes of charts: round numbers upwards, and times to the right. Pure. */

import { timeFormat } from "../../format.ts";

export type Per = "minute" | "hour" | "day";

/** Round numbers from 0 to at least `max`, about `count` of them. */
export function ticksTo(max: number, count = 4): readonly number[] {
  if (!(max > 0)) return [0, 1];
  const rough = max / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((by) => by * power >= rough) ?? 10);
  const steps = Math.ceil(max / step - 1e-9);
  return Array.from({ length: steps + 1 }, (_, at) => Number((at * step).toPrecision(12)));
}

/** Which steps have a label: at most `most`, at equal distances, the newest one among them. */
export function labelledSteps(count: number, most: number): readonly number[] {
  const every = Math.max(1, Math.ceil(count / Math.max(1, most)));
  return Array.from({ length: count }, (_, at) => at).filter((at) => (count - 1 - at) % every === 0);
}

const day = timeFormat({ day: "numeric", month: "short", timeZone: "UTC" });
const weekday = timeFormat({ weekday: "short" });
const time = timeFormat({ hour: "2-digit", minute: "2-digit" });

/** The zone of `stepLabel`. */
export function zoneOf(per: Per): string {
  return per === "day" ? "UTC" : Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** `14:05`, `Wed 14:00`, `12 Nov`. Days are those of UTC. */
export function stepLabel(at: number, per: Per, long = false): string {
  if (per === "day") return day(at);
  return long ? `${weekday(at)} ${time(at)}` : time(at);
}
