/** Rows for people: aligned columns; the last one goes on below itself where the terminal ends. */
import { wrap } from "./wrap.ts";

const GAP = "  ";

/** For a user who has none. */
export const TO_GET_SERVERS =
  '"metamcp import" copies the servers of your clients, "metamcp add --list" shows well-known ones.';

/** The width to keep to; undefined where nobody looks. A terminal that does not know its own says 0. */
export const columns = (): number | undefined => (process.stdout.isTTY ? process.stdout.columns : undefined);

export function table(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  width = columns(),
): string {
  const all = [head, ...rows].map((row) => row.map(plain));
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const last = widths.slice(0, -1).reduce((sum, each) => sum + each + GAP.length, 0);
  const indent = width && last > width / 2 ? GAP.length * 2 : last;
  return all
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join(GAP)
        .trimEnd(),
    )
    .map((line) => wrap(line, width, indent))
    .join("\n");
}

/** What a command answers: a table for people, JSON for programs. */
export function show(value: unknown, json: boolean, forPeople: () => string): void {
  process.stdout.write(`${json ? JSON.stringify(value, undefined, 2) : wrap(forPeople(), columns())}\n`);
}

/** On one line, and without what a terminal acts on: many cells are texts of strangers. */
export function plain(cell: string): string {
  return cell
    .replaceAll(/\s+/g, " ")
    .replaceAll(/\p{C}+/gu, "")
    .trim();
}
