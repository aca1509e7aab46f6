/** A table of config changes. */
import type { Change } from "../../admin/schemas.ts";
import { table } from "../table.ts";

export function changeTable(changes: readonly Change[]): string {
  if (changes.length === 0) return "Nothing changes.";
  const rows = changes.map(({ op, kind, name, fields = [] }) => [op, kind, name, fields.join(", ")]);
  return table(["CHANGE", "KIND", "NAME", "FIELDS"], rows);
}
