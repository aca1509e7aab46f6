/** Where a stream stands and when it may be taken up again. Values only. */

const FIRST_DELAY_MS = 1_000;
const LONGEST_DELAY_MS = 30_000;
/** A server that asks for 0 would be asked without a pause for as long as a call lasts. */
const SHORTEST_DELAY_MS = 10;

export interface StreamPosition {
  /** Of the last event that had one, as it is sent: a stream without cannot be resumed. */
  lastEventId: string | undefined;
  /** The server's own wish. */
  retryMs: number | undefined;
  /** Attempts since something last came. */
  attempts: number;
}

export function beginning(): StreamPosition {
  return { lastEventId: undefined, retryMs: undefined, attempts: 0 };
}

/** An event with this id, or with none of its own, came whole. An empty id takes back the one before. */
export function passed(position: StreamPosition, id: string | undefined): void {
  if (id !== undefined) position.lastEventId = sendable(id);
}

/** As the bytes of a header; undefined for what may not stand in one. */
function sendable(id: string): string | undefined {
  const bytes = Buffer.from(id).toString("latin1");
  return /^[\t\x20-\x7e\x80-\xff]+$/.test(bytes) ? bytes : undefined;
}

export function resumeDelayMs({ retryMs, attempts }: StreamPosition): number {
  const first = Math.max(SHORTEST_DELAY_MS, retryMs ?? FIRST_DELAY_MS);
  return Math.min(Math.max(first, LONGEST_DELAY_MS), first * 2 ** attempts);
}
