/** Whether a child that let a call time out still answers anything at all. */
import type { Clock } from "../kernel/clock.ts";
import { RpcError } from "../rpc/rpc-error.ts";
import type { Connection } from "./connection.ts";
import { type Category, ChildFailure } from "./link.ts";

const PATIENCE_MS = 2_000;
const ANSWERS: ReadonlySet<Category> = new Set(["auth", "other"]);
const asked = new WeakMap<Connection, Promise<boolean>>();

/** Asked once at a time per connection, however many calls timed out on it. */
export function isAlive(connection: Connection, clock: Clock): Promise<boolean> {
  let answer = asked.get(connection);
  if (!answer) {
    answer = ping(connection, clock).finally(() => asked.delete(connection));
    asked.set(connection, answer);
  }
  return answer;
}

async function ping(connection: Connection, clock: Clock): Promise<boolean> {
  const patience = new AbortController();
  const timer = clock.after(PATIENCE_MS, () => patience.abort(new Error("no answer to ping")));
  try {
    await connection.ask("ping", undefined, patience.signal);
    return true;
  } catch (error) {
    // "Method not found" is an answer too, however it is put.
    return error instanceof RpcError || (error instanceof ChildFailure && ANSWERS.has(error.category));
  } finally {
    timer.cancel();
  }
}
