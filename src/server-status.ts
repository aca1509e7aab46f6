/** How all configured servers are, for a person or a model: those that run or could, and those that the config spoils. */
import type { Fleet } from "./child/fleet.ts";
import type { Config } from "./config/spec.ts";
import type { ServerStatus } from "./surface/scope.ts";

export interface StatusParts {
  readonly fleet: Pick<Fleet, "status">;
  readonly config: () => Config;
  /** Someone logged in or out at this server since it was last asked. */
  readonly loginChanged: (server: string) => boolean;
}

const LOGIN_CHANGED = "someone logged in or out since it failed; the next call tries it again";

export function statusOfAll({ fleet, config, loginChanged }: StatusParts): readonly ServerStatus[] {
  return [
    ...fleet.status().map((status) => sinceLogin(status, loginChanged)),
    ...Array.from(config().broken, ([name, reason]) => misconfigured(name, reason)),
  ];
}

/** What failed for want of a login may not be held against it once someone has logged in. */
function sinceLogin(status: ServerStatus, loginChanged: StatusParts["loginChanged"]): ServerStatus {
  const { name, state, retryAfterMs } = status;
  const past = state === "failed" && retryAfterMs === undefined && loginChanged(name);
  return past ? { ...status, reason: LOGIN_CHANGED } : status;
}

function misconfigured(name: string, reason: string): ServerStatus {
  return {
    name,
    reason,
    state: "failed",
    connected: false,
    criticality: "optional",
    misconfigured: true,
  };
}
