/** Lines of a diff in pieces: what changed with some lines around it, and what lies between, folded. */
import type { LineChange } from "./diff-lines.ts";

export interface Piece {
  readonly folded: boolean;
  readonly lines: readonly LineChange[];
}

const AROUND = 3;

export function foldLines(changes: readonly LineChange[]): readonly Piece[] {
  const shown = changes.map(() => false);
  changes.forEach(({ kind }, at) => {
    if (kind !== "same") shown.fill(true, Math.max(at - AROUND, 0), at + AROUND + 1);
  });
  const pieces: { folded: boolean; lines: LineChange[] }[] = [];
  changes.forEach((change, at) => {
    const folded = !shown[at];
    if (pieces.at(-1)?.folded !== folded) pieces.push({ folded, lines: [] });
    pieces.at(-1)?.lines.push(change);
  });
  return pieces;
}
