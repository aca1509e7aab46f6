/**
 * Groups the lines of a diff into blocks: changes with their context lines, and folded blocks of unchanged
 * lines between them.
 */
import type { LineChange } from "./diff-lines.ts";

export interface LineBlock {
  readonly folded: boolean;
  readonly lines: readonly LineChange[];
}

const CONTEXT_LINES = 3;

export function foldLines(changes: readonly LineChange[]): readonly LineBlock[] {
  const shown = changes.map(() => false);
  changes.forEach(({ kind }, at) => {
    if (kind !== "same") shown.fill(true, Math.max(at - CONTEXT_LINES, 0), at + CONTEXT_LINES + 1);
  });
  const blocks: { folded: boolean; lines: LineChange[] }[] = [];
  changes.forEach((change, at) => {
    const folded = !shown[at];
    if (blocks.at(-1)?.folded !== folded) blocks.push({ folded, lines: [] });
    blocks.at(-1)?.lines.push(change);
  });
  return blocks;
}
