/** A list of flat objects as rows and columns, read from the text so that numbers keep their digits. */
import { kindOf, membersOf, type Span } from "../json/json-text.ts";

export interface FlatRow {
  readonly at: number;
  readonly values: ReadonlyMap<string, string>;
}

export interface FlatRows {
  readonly columns: readonly string[];
  /** Those in which all values are numbers. */
  readonly numbers: ReadonlySet<string>;
  readonly rows: readonly FlatRow[];
}

const MOST_COLUMNS = 12;
const MOST_ROWS = 5000;
const LONGEST_VALUE = 300;

/** undefined where a tree shows it better: nested, too wide, too long, too few. */
export function flatRows(text: string, whole: Span): FlatRows | undefined {
  if (kindOf(text, whole) !== "array") return undefined;
  const rows: FlatRow[] = [];
  const columns = new Set<string>();
  const words = new Set<string>();
  for (const item of membersOf(text, whole)) {
    if (kindOf(text, item) !== "object" || rows.length === MOST_ROWS) return undefined;
    const values = new Map<string, string>();
    for (const member of membersOf(text, item)) {
      const kind = kindOf(text, member);
      if (kind === "object" || kind === "array" || member.end - member.start > LONGEST_VALUE)
        return undefined;
      const name = String(member.key);
      const written = text.slice(member.start, member.end);
      columns.add(name);
      if (kind !== "number") words.add(name);
      values.set(name, kind === "string" ? (JSON.parse(written) as string) : written);
    }
    if (columns.size > MOST_COLUMNS) return undefined;
    rows.push({ at: rows.length, values });
  }
  if (rows.length < 2 || columns.size === 0) return undefined;
  return {
    columns: [...columns],
    numbers: new Set([...columns].filter((name) => !words.has(name))),
    rows,
  };
}
