/**
 * Work on large messages takes turns: one piece in each turn of the event loop, whoever sent it. Others are
 * served in between, and nobody waits for more than one piece.
 */

/** From this size on, a walk through all bytes of a message is worth a turn of its own. */
export const LARGE_BYTES = 65_536;

const waiting: (() => void)[] = [];

/**
 * Resolves in the next turn that is free. Immediates of a turn that reads input run in that same turn, so the
 * first one only waits for it to end.
 */
export function ownTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(() => setImmediate(next));
  });
}

function next(): void {
  const [begin] = waiting.splice(0, 1);
  begin?.();
  if (waiting.length > 0) setImmediate(next);
}
