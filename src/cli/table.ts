/** Rows for people: aligned columns, cut to the terminal's width. */

const GAP = "  ";

/** For who has none. */
export const TO_GET_SERVERS =
  '"metamcp import" takes over the servers of your clients, "metamcp add --list" shows well-known ones.';

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows].map((row) => row.map(plain));
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  // A terminal that does not know its width says 0.
  const room = (process.stdout.isTTY && process.stdout.columns) || Number.POSITIVE_INFINITY;
  return all
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join(GAP)
        .trimEnd(),
    )
    .map((line) => (line.length > room ? `${line.slice(0, room - 1)}…` : line))
    .join("\n");
}

/** What a command answers: a table for people, JSON for programs. */
export function show(value: unknown, json: boolean, forPeople: () => string): void {
  process.stdout.write(`${json ? JSON.stringify(value, undefined, 2) : forPeople()}\n`);
}

/** On one line, and without what a terminal acts on: many cells are texts of strangers. */
function plain(cell: string): string {
  return cell
    .replaceAll(/\s+/g, " ")
    .replaceAll(/\p{C}+/gu, "")
    .trim();
}
