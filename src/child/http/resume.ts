/** The position in an event stream, and the delay before it is resumed. Pure. */

const FIRST_DELAY_MS = 1_000;
const LONGEST_DELAY_MS = 30_000;
/** With a `retry` of 0 the server would be asked without a pause as long as the call lasts. */
const SHORTEST_DELAY_MS = 10;

export interface StreamPosition {
  /** The last event id, encoded for a header. A stream without one cannot be resumed. */
  lastEventId: string | undefined;
  /** The delay that the server asked for. */
  retryMs: number | undefined;
  /** Attempts since the last event. */
  attempts: number;
}

export function streamStart(): StreamPosition {
  return { lastEventId: undefined, retryMs: undefined, attempts: 0 };
}

/** A complete event was read. Without an id the position stays; an empty id clears it. */
export function eventRead(position: StreamPosition, id: string | undefined): void {
  if (id !== undefined) position.lastEventId = sendable(id);
}

/** The id as the bytes of a header; undefined if a header may not contain it. */
function sendable(id: string): string | undefined {
  const bytes = Buffer.from(id).toString("latin1");
  return /^[\t\x20-\x7e\x80-\xff]+$/.test(bytes) ? bytes : undefined;
}

export function resumeDelayMs({ retryMs, attempts }: StreamPosition): number {
  const first = Math.max(SHORTEST_DELAY_MS, retryMs ?? FIRST_DELAY_MS);
  return Math.min(Math.max(first, LONGEST_DELAY_MS), first * 2 ** attempts);
}
