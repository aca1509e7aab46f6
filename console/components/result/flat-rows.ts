/**
 * Reads a list of flat objects as rows and columns. Works on the text, so that long numbers keep all digits.
 */
import { kindOf, membersOf, type Span } from "../json/json-text.ts";

export interface FlatRow {
  readonly at: number;
  readonly values: ReadonlyMap<string, string>;
}

export interface FlatRows {
  readonly columns: readonly string[];
  /** Columns in which all values are numbers. */
  readonly numbers: ReadonlySet<string>;
  readonly rows: readonly FlatRow[];
}

const MAX_COLUMNS = 12;
const MAX_ROWS = 5000;
const MAX_VALUE_CHARS = 300;

/**
 * Returns undefined if a tree shows the value better: nested objects, too many columns or rows, long values,
 * fewer than two rows.
 */
export function flatRows(text: string, root: Span): FlatRows | undefined {
  if (kindOf(text, root) !== "array") return undefined;
  const rows: FlatRow[] = [];
  const columns = new Set<string>();
  const nonNumeric = new Set<string>();
  for (const item of membersOf(text, root)) {
    if (kindOf(text, item) !== "object" || rows.length === MAX_ROWS) return undefined;
    const values = new Map<string, string>();
    for (const member of membersOf(text, item)) {
      const kind = kindOf(text, member);
      if (kind === "object" || kind === "array" || member.end - member.start > MAX_VALUE_CHARS)
        return undefined;
      const name = String(member.key);
      const json = text.slice(member.start, member.end);
      columns.add(name);
      if (kind !== "number") nonNumeric.add(name);
      values.set(name, kind === "string" ? (JSON.parse(json) as string) : json);
    }
    if (columns.size > MAX_COLUMNS) return undefined;
    rows.push({ at: rows.length, values });
  }
  if (rows.length < 2 || columns.size === 0) return undefined;
  return {
    columns: [...columns],
    numbers: new Set([...columns].filter((name) => !nonNumeric.has(name))),
    rows,
  };
}
