/** Tables with aligned columns. The last column wraps at the width of the terminal. */

import { print, printJson } from "./print.ts";
import { wrap } from "./wrap.ts";

const GAP = "  ";

/** Hint for users without servers. */
export const TO_GET_SERVERS =
  '"metamcp import" copies the servers of your clients, "metamcp add --list" shows well-known ones.';

/**
 * The width of the terminal. Undefined if stdout is not a terminal, 0 if the terminal does not know its
 * width.
 */
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

/** Prints the result of a command: JSON with --json, else the text for people. */
export function show(value: unknown, json: boolean, forPeople: () => string): void {
  if (json) printJson(JSON.stringify(value, undefined, 2));
  else print(wrap(forPeople(), columns()));
}

/** Removes line breaks and control characters, because many cells contain untrusted text. */
export function plain(cell: string): string {
  return cell
    .replaceAll(/\s+/g, " ")
    .replaceAll(/\p{C}+/gu, "")
    .trim();
}
