/**
 * Sends progress to the client of a waiting call, if it gave a token. Progress restarts the timeout of the
 * client.
 */
import type { Call } from "../../kernel/call.ts";
import type { Clock } from "../../kernel/clock.ts";
import { kept, type Raw, toRaw } from "../../kernel/raw.ts";
import { joinObject, member, members } from "../../rpc/slice.ts";

const EVERY_MS = 5_000;
/** Progress values are multiples of 1/1,000,000, so that any later progress of the server is larger. */
const STEPS = 1_000_000;

/** Returns the function that stops it. */
export function reportWaiting({ params, uplink }: Pick<Call, "params" | "uplink">, clock: Clock): () => void {
  const meta = member(params, "_meta");
  const [token] = meta ? members(meta, ["progressToken"]) : [];
  if (!token) return () => {};
  const own = kept(token);
  let count = 0;
  const say = (): void => {
    count += 1;
    uplink.notify("notifications/progress", progress(own, count));
    timer = clock.after(EVERY_MS, say);
  };
  let timer = clock.after(0, say);
  return () => timer.cancel();
}

function progress(token: Raw, count: number): Raw {
  return joinObject([
    ["progressToken", token],
    ["progress", toRaw(count / STEPS)],
    ["total", toRaw(1)],
    ["message", toRaw("waiting for an approval")],
  ]);
}
