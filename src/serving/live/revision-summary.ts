/** What a revision changed, in short: as the text of its summary, and as the rows of its event. */
import type { Objects, StoredObject } from "../../gateway/objects.ts";
import type { ChangeRow } from "../../gateway/settle.ts";
import type { RevisionServed } from "../../kernel/events.ts";

const MAX_IN_EVENT = 50;
const MAX_IN_SUMMARY = 3;

export function summaryOf(changes: readonly ChangeRow[], before: Objects, after: Objects): string {
  const named = changes.slice(0, MAX_IN_SUMMARY).map((row) => {
    const { op, kind, name } = row;
    const what = changes.length === 1 && op === "update" ? `: ${detailOf(row, before, after)}` : "";
    return `${op} ${kind} "${name}"${what}`;
  });
  const more = changes.length > MAX_IN_SUMMARY ? [`${changes.length - MAX_IN_SUMMARY} more`] : [];
  return [...named, ...more].join(", ");
}

/** The switched tools of a namespace, or the changed fields. */
function detailOf({ kind, uuid, fields = [] }: ChangeRow, before: Objects, after: Objects): string {
  const [was, is] = [before, after].map((objects) => toolsOff(objects.namespace.get(uuid)));
  const isSwitch = kind === "namespace" && fields.length === 1 && fields[0] === "tools";
  const off = [...(is ?? [])].filter((tool) => !was?.has(tool));
  const on = [...(was ?? [])].filter((tool) => !is?.has(tool));
  if (!isSwitch || off.length + on.length === 0) return fields.join(", ");
  return [said(off, "off"), said(on, "on")].filter(Boolean).join(", ");
}

function toolsOff(namespace: StoredObject<"namespace"> | undefined): ReadonlySet<string> {
  return new Set(namespace?.spec.tools.flatMap(({ tool, disabled }) => (disabled ? [tool] : [])));
}

function said(tools: readonly string[], state: "on" | "off"): string {
  if (tools.length === 0) return "";
  const more = tools.length > MAX_IN_SUMMARY ? ` and ${tools.length - MAX_IN_SUMMARY} more` : "";
  return `${tools.slice(0, MAX_IN_SUMMARY).join(", ")}${more} ${state}`;
}

export function eventRows(changes: readonly ChangeRow[]): Pick<RevisionServed, "changes" | "more"> {
  const rows = changes.slice(0, MAX_IN_EVENT).map(({ op, kind, uuid, name }) => ({ op, kind, uuid, name }));
  const more = changes.length - rows.length;
  return { changes: rows, ...(more > 0 && { more }) };
}
