/** When a replica counts as dead. Pure: times are passed in. */

export const BEAT_MS = 2_000;
/** Without a beat for so long a replica is dead. */
export const DEAD_MS = 8_000;
/** The same for a replica whose address refuses connections as well. */
export const REFUSING_DEAD_MS = 4_000;
/**
 * A replica must have reached the database for so long before it may call another one dead. After an outage
 * of the database all rows are old, until each replica had time for a beat.
 */
const SETTLED_MS = 2 * BEAT_MS;
/** A replica may have been called dead if its last beat is older than this. */
export const LEASE_MS = REFUSING_DEAD_MS - BEAT_MS / 2;

/** It has missed a beat. One that was not silent when it was seen last has left by itself. */
export function isSilent(silentMs: number): boolean {
  return silentMs > BEAT_MS + BEAT_MS / 4;
}

export interface Sighting {
  /** Since its last beat, by the clock of the database. */
  readonly silentMs: number;
  /** Its address refuses connections. */
  readonly refuses: boolean;
  /** How long the replica that judges has reached the database without a break. */
  readonly settledMs: number;
}

export function isDead({ silentMs, refuses, settledMs }: Sighting): boolean {
  return settledMs >= SETTLED_MS && silentMs >= (refuses ? REFUSING_DEAD_MS : DEAD_MS);
}
