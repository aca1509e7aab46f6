/** What a fault of Postgres, or of the way to it, means for the store. */
import { StoreError } from "../error.ts";

const UNIQUE = "23505";

/**
 * By the first characters of an SQLSTATE. Connections (08), resources (53), an operator (57) and faults of the system (58)
 * pass by themselves; so do a server that became a read-only copy (25006), deadlocks (40) and a login that is refused
 * while a password changes (28).
 */
const PASSING = ["08", "53", "57", "58", "25006", "40", "28"];

export function postgresFault(error: unknown): unknown {
  if (StoreError.is(error) || !(error instanceof Error)) return error;
  const state = sqlState(error);
  if (state === UNIQUE) return new StoreError("taken", undefined, error);
  // What has no SQLSTATE did not come from the server: there is no connection, or it broke.
  const passing = state === undefined || PASSING.some((start) => state.startsWith(start));
  return passing ? new StoreError("unavailable", reasonOf(error), error) : error;
}

function sqlState(error: Error): string | undefined {
  const code = "code" in error ? error.code : undefined;
  return typeof code === "string" && /^[0-9A-Z]{5}$/.test(code) ? code : undefined;
}

/** Of several addresses that were tried, e.g. IPv6 and IPv4, the first tells enough. */
function reasonOf(error: Error): string {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : undefined;
  return `Postgres: ${first instanceof Error ? first.message : error.message}`;
}
