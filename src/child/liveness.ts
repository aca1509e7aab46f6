/** Checks with a ping whether a child still answers after a call timed out. */
import type { Clock } from "../kernel/clock.ts";
import { RpcError } from "../rpc/rpc-error.ts";
import type { Connection } from "./connection.ts";
import { type Category, ChildFailure } from "./link.ts";

const PING_TIMEOUT_MS = 2_000;
/** Failures that prove that the server answered. */
const ANSWERED: ReadonlySet<Category> = new Set(["auth", "other"]);
const checks = new WeakMap<Connection, Promise<boolean>>();

/** Calls that time out on the same connection share one check. */
export function isAlive(connection: Connection, clock: Clock): Promise<boolean> {
  let check = checks.get(connection);
  if (!check) {
    check = ping(connection, clock).finally(() => checks.delete(connection));
    checks.set(connection, check);
  }
  return check;
}

async function ping(connection: Connection, clock: Clock): Promise<boolean> {
  const timeout = new AbortController();
  const timer = clock.after(PING_TIMEOUT_MS, () => timeout.abort(new Error("no answer to ping")));
  try {
    await connection.ask("ping", undefined, timeout.signal);
    return true;
  } catch (error) {
    // An error such as "Method not found" is an answer too, as JSON-RPC or as an HTTP status.
    return error instanceof RpcError || (error instanceof ChildFailure && ANSWERED.has(error.category));
  } finally {
    timer.cancel();
  }
}
