/** Shows the calls that code made: one by one if they are few, else grouped by tool. */
import { BUILTIN_SERVER } from "../../kernel/builtin-server.ts";
import type { CallRecord } from "../../sandbox/executor.ts";
import { READ } from "../builtin/tools.ts";

const MAX_SHOWN = 20;
/** What `read(uri)` of code calls. No tool of this name can be called from outside. */
export const WHOLE = "whole";

/** If there is a `count`, `ms` is the sum. */
export interface ShownCall extends CallRecord {
  readonly count?: number;
}

export function shownCalls(calls: readonly CallRecord[]): readonly ShownCall[] {
  return calls.length <= MAX_SHOWN ? calls.map(asWritten) : byTool(calls);
}

export function callsText(calls: readonly CallRecord[]): string {
  const parts = byTool(calls).map(({ server, tool, count = 1, error }) => {
    const times = count > 1 ? ` ×${count}` : "";
    return `${server}:${tool}${times}${error === undefined ? "" : ` (${error})`}`;
  });
  const more = parts.length > MAX_SHOWN ? `, and ${parts.length - MAX_SHOWN} other tools` : "";
  return `${parts.slice(0, MAX_SHOWN).join(", ")}${more}`;
}

function byTool(calls: readonly CallRecord[]): readonly ShownCall[] {
  const counted = new Map<string, ShownCall>();
  for (const { server, tool, ms, error } of calls.map(asWritten)) {
    const key = JSON.stringify([server, tool, error]);
    const { ms: before = 0, count = 0 } = counted.get(key) ?? {};
    const sum = Math.round((before + ms) * 10) / 10;
    counted.set(key, { server, tool, ms: sum, count: count + 1, ...(error !== undefined && { error }) });
  }
  return [...counted.values()];
}

/** The call under the name that the code used. */
function asWritten(call: CallRecord): CallRecord {
  return call.server === BUILTIN_SERVER && call.tool === WHOLE ? { ...call, tool: READ.name } : call;
}
