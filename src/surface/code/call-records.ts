/** The calls that code made, as they are shown: one by one while they are few, else by tool. */
import type { CallRecord } from "../../sandbox/executor.ts";

const MOST_SHOWN = 20;

/** `ms` is the sum where `count` is given. */
export interface ShownCall extends CallRecord {
  readonly count?: number;
}

export function shownCalls(calls: readonly CallRecord[]): readonly ShownCall[] {
  return calls.length <= MOST_SHOWN ? calls : byTool(calls);
}

export function callsInWords(calls: readonly CallRecord[]): string {
  const told = byTool(calls).map(({ server, tool, count = 1, error }) => {
    const times = count > 1 ? ` ×${count}` : "";
    return `${server}:${tool}${times}${error === undefined ? "" : ` (${error})`}`;
  });
  const more = told.length > MOST_SHOWN ? `, and ${told.length - MOST_SHOWN} other tools` : "";
  return `${told.slice(0, MOST_SHOWN).join(", ")}${more}`;
}

function byTool(calls: readonly CallRecord[]): readonly ShownCall[] {
  const counted = new Map<string, ShownCall>();
  for (const { server, tool, ms, error } of calls) {
    const key = JSON.stringify([server, tool, error]);
    const { ms: before = 0, count = 0 } = counted.get(key) ?? {};
    const sum = Math.round((before + ms) * 10) / 10;
    counted.set(key, { server, tool, ms: sum, count: count + 1, ...(error !== undefined && { error }) });
  }
  return [...counted.values()];
}
