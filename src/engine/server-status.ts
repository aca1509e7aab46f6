/** The status of all configured servers, including those with an invalid entry. */
import { notListed } from "../catalog/catalog-loader.ts";
import type { LazyFleet } from "../child/lazy-fleet.ts";
import type { Config } from "../config/spec.ts";
import type { ServerStatus } from "../kernel/server-status.ts";

export interface StatusParts {
  readonly statuses: ReturnType<LazyFleet["status"]>;
  readonly config: Pick<Config, "broken">;
  /** Why the tools of a server could not be listed, if none are known. */
  readonly fault: (server: string) => string | undefined;
  /** Whether somebody logged in or out at this server since the last request to it. */
  readonly loginChanged: (server: string) => boolean;
}

const LOGIN_CHANGED = "someone logged in or out since it failed; the next call tries it again";

export function statusOfAll({ statuses, config, loginChanged, fault }: StatusParts): readonly ServerStatus[] {
  return [
    ...statuses.map((status) => unlisted(sinceLogin(status, loginChanged), fault(status.name))),
    ...Array.from(config.broken, ([name, reason]) => misconfigured(name, reason)),
  ];
}

/** A failure because of a missing login is outdated once somebody has logged in. */
function sinceLogin(status: ServerStatus, loginChanged: StatusParts["loginChanged"]): ServerStatus {
  const { name, state, retryAfterMs } = status;
  const past = state === "failed" && retryAfterMs === undefined && loginChanged(name);
  return past ? { ...status, reason: LOGIN_CHANGED } : status;
}

/** The server runs, but its tools could not be listed. */
function unlisted(status: ServerStatus, fault: string | undefined): ServerStatus {
  return status.reason === undefined && fault !== undefined
    ? { ...status, reason: notListed(fault) }
    : status;
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
