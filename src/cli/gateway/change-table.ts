/** A table of config changes. */
import { table } from "../table.ts";

export interface ChangeLine {
  readonly op: string;
  readonly kind: string;
  readonly name: string;
  readonly fields?: readonly string[];
}

export function changeTable(changes: readonly ChangeLine[]): string {
  if (changes.length === 0) return "Nothing changes.";
  const rows = changes.map(({ op, kind, name, fields = [] }) => [op, kind, name, fields.join(", ")]);
  return table(["CHANGE", "KIND", "NAME", "FIELDS"], rows);
}
