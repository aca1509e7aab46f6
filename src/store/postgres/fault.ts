/** Maps errors of Postgres, and of the connection to it, to StoreError. */
import { StoreError } from "../error.ts";

const UNIQUE = "23505";
const NO_ROOM = "53300";

/**
 * Transient errors, by the first characters of the SQLSTATE: connections (08), resources (53), operator
 * intervention (57), system errors (58), a server that became a read-only replica (25006), a process that was
 * stopped within a transaction (25P03), deadlocks (40),
 * and a login that is refused while a password changes (28).
 */
const TRANSIENT = ["08", "53", "57", "58", "25006", "25P03", "40", "28"];

export function postgresFault(error: unknown): unknown {
  if (StoreError.is(error) || !(error instanceof Error)) return error;
  const state = sqlState(error);
  if (state === UNIQUE) return new StoreError("taken", undefined, error);
  // An error without SQLSTATE did not come from the server: the connection failed or broke.
  const transient = state === undefined || TRANSIENT.some((start) => state.startsWith(start));
  return transient ? new StoreError("unavailable", reasonOf(error), error) : error;
}

/** All connections that Postgres, the database or the user may have are in use. */
export function hasNoRoom(error: unknown): boolean {
  return error instanceof Error && sqlState(error) === NO_ROOM;
}

function sqlState(error: Error): string | undefined {
  const code = "code" in error ? error.code : undefined;
  return typeof code === "string" && /^[0-9A-Z]{5}$/.test(code) ? code : undefined;
}

/** If several addresses were tried, e.g. IPv6 and IPv4, the first reason is enough. */
function reasonOf(error: Error): string {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : undefined;
  return `Postgres: ${first instanceof Error ? first.message : error.message}`;
}
