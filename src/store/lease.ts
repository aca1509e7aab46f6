/**
 * A lock over all processes on a store, for work that takes longer than a transaction may. The lock is a
 * record with an expiry time, so a process that dies does not block others for longer than that.
 */
import { randomInt } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { StoreError } from "./error.ts";
import type { Records } from "./store.ts";

/** The kind of record. */
const LEASE = "lease";

export interface LeaseOptions {
  /** How long the lease is valid. The work must not take longer. */
  readonly holdMs: number;
  /** How long to wait for other holders. */
  readonly waitMs: number;
}

const [SHORTEST_PAUSE_MS, LONGEST_PAUSE_MS] = [20, 150];

/** Rejects with "conflict" after `waitMs`. */
export async function withLease<T>(
  records: Pick<Records, "put" | "write">,
  id: string,
  run: () => Promise<T>,
  { holdMs, waitMs }: LeaseOptions,
): Promise<T> {
  const version = await acquire(records, id, { holdMs, waitMs });
  try {
    return await run();
  } finally {
    // `ifVersion` protects the lease of another process if ours has expired. A lease that cannot be deleted
    // expires.
    await records.write([{ delete: { kind: LEASE, id, ifVersion: version } }]).catch(() => {});
  }
}

async function acquire(
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
