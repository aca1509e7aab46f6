/**
 * The times of servers that may run only once. Each leaves room for the next: an orderly end, the guard that
 * kills what is left of a stopped gateway, and then the end of the right in the database.
 */

export const RENEW_MS = 2_000;
/** So long a replica has a server without a renewal, by the clock of the database. */
export const LEASE_MS = 10_000;
/** After this time without a renewal it ends the server. Ending a process takes 1.6 s at most. */
export const END_MS = 7_000;
/** After this time a guard kills it. */
export const GUARD_MS = 8_000;
/** An answer of the database that took longer than this does not tell the guard to wait again. */
export const FRESH_MS = 1_000;
