/**
 * One at a time over all processes on a store, for work that takes longer than a transaction may: a record says that
 * somebody is at it, and until when. Whoever dies in the middle is waited for no longer than that.
 */
import { randomInt } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { StoreError } from "./error.ts";
import type { Records } from "./store.ts";

/** The kind of record. */
const LEASE = "lease";

export interface LeaseOptions {
  /** How long it may be held. Who needs longer must not have begun. */
  readonly holdMs: number;
  /** How long others are waited for. */
  readonly waitMs: number;
}

const [SHORTEST_PAUSE_MS, LONGEST_PAUSE_MS] = [20, 150];

/** Rejects with "conflict" where others took too long. */
export async function withLease<T>(
  records: Pick<Records, "put" | "write">,
  id: string,
  run: () => Promise<T>,
  { holdMs, waitMs }: LeaseOptions,
): Promise<T> {
  const version = await taken(records, id, { holdMs, waitMs });
  try {
    return await run();
  } finally {
    // Another one's, if ours ran out; and one that cannot be given back ends by itself.
    await records.write([{ delete: { kind: LEASE, id, ifVersion: version } }]).catch(() => {});
  }
}

async function taken(
  records: Pick<Records, "put">,
  id: string,
  { holdMs, waitMs }: LeaseOptions,
): Promise<number> {
  const until = Date.now() + waitMs;
  for (;;) {
    try {
      const now = Date.now();
      const { version } = await records.put({
        kind: LEASE,
        id,
        value: {},
        expiresAt: now + holdMs,
        ifVersion: 0,
      });
      return version;
    } catch (error) {
      if (!StoreError.is(error, "conflict") || Date.now() >= until) throw error;
      await pause(randomInt(SHORTEST_PAUSE_MS, LONGEST_PAUSE_MS));
    }
  }
}
