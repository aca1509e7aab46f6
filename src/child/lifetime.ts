/** How long a connection lasted, from its handshake on; said once, with what ended it. */
import type { Clock } from "../kernel/clock.ts";
import type { ConnectionChanged } from "../kernel/events.ts";

type Lasted = Pick<ConnectionChanged, "durationMs">;

export function lifetime(clock: Clock): (state: ConnectionChanged["state"]) => Lasted {
  let since: number | undefined;
  return (state) => {
    if (state === "connected") since = clock.now();
    if (since === undefined || (state !== "closed" && state !== "failed")) return {};
    const durationMs = clock.now() - since;
    since = undefined;
    return { durationMs };
  };
}
