/** What a revision changed, in short: as the text of its summary, and as the rows of its event. */
import type { ChangeRow } from "../../gateway/settle.ts";
import type { RevisionServed } from "../../kernel/events.ts";

const MAX_IN_EVENT = 50;
const MAX_IN_SUMMARY = 3;

export function summaryOf(changes: readonly ChangeRow[]): string {
  const named = changes.slice(0, MAX_IN_SUMMARY).map(({ op, kind, name }) => `${op} ${kind} "${name}"`);
  const more = changes.length > MAX_IN_SUMMARY ? [`${changes.length - MAX_IN_SUMMARY} more`] : [];
  return [...named, ...more].join(", ");
}

export function eventRows(changes: readonly ChangeRow[]): Pick<RevisionServed, "changes" | "more"> {
  const rows = changes.slice(0, MAX_IN_EVENT).map(({ op, kind, uuid, name }) => ({ op, kind, uuid, name }));
  const more = changes.length - rows.length;
  return { changes: rows, ...(more > 0 && { more }) };
}
