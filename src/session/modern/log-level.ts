/** Which log messages a request wants to hear: none, unless it names a level. */
import { fromRaw, type Raw } from "../../kernel/raw.ts";
import { members } from "../../rpc/slice.ts";

const LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

export function isLevel(level: string): boolean {
  return LEVELS.includes(level);
}

/** Whether a log message is at or above the wanted level. One without a known level is heard. */
export function logged(params: Raw | undefined, wanted: string | undefined): boolean {
  if (wanted === undefined) return false;
  const [level] = params ? members(params, ["level"]) : [];
  const rank = level ? LEVELS.indexOf(String(fromRaw(level))) : -1;
  return rank < 0 || rank >= LEVELS.indexOf(wanted);
}
