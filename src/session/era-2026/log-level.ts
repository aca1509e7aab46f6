/** Decides which log messages are sent with a request. A request without a level gets none. */
import { type Raw, scalarOf } from "../../kernel/raw.ts";
import { compareSeverity, isSeverity } from "../../kernel/severity.ts";
import { member } from "../../rpc/slice.ts";

/** Whether a log message is at or above the wanted level. A message without a known level is sent. */
export function logged(params: Raw, wanted: string | undefined): boolean {
  if (!isSeverity(wanted)) return false;
  const raw = member(params, "level");
  const level = scalarOf(raw);
  return !isSeverity(level) || compareSeverity(level, wanted) >= 0;
}
