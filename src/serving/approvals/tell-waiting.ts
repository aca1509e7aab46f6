/** Progress to the client of a call that waits, where it asked for any: its own time limits start anew. */
import type { Call } from "../../kernel/call.ts";
import type { Clock } from "../../kernel/clock.ts";
import { kept, type Raw, toRaw } from "../../kernel/raw.ts";
import { joinObject, member, members } from "../../rpc/slice.ts";

const EVERY_MS = 5_000;
/** Numbers so small that whatever the server says later is more. */
const STEPS = 1_000_000;

/** Returns what ends it. */
export function tellWaiting({ params, uplink }: Pick<Call, "params" | "uplink">, clock: Clock): () => void {
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
