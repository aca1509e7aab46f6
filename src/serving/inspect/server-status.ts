/** The connection status of a server, for the admin API. */

import { touchesOf } from "../../config/touches.ts";
import type { Engine } from "../../engine/engine.ts";
import type { CompiledServer } from "../../gateway/compile.ts";
import type { ConnectionStatus } from "../../gateway/control.ts";
import type { ServerReachability } from "../live/reachability.ts";
import type { LastFailures } from "./last-failures.ts";
import type { ServerHistory } from "./server-history.ts";

interface Sources {
  readonly engine: Pick<Engine, "scope" | "catalog">;
  readonly reach: Pick<ServerReachability, "fault" | "changing">;
  readonly history: Pick<ServerHistory, "since" | "needsLogin" | "output">;
  readonly failures: Pick<LastFailures, "of">;
  /** The replica that runs a server whose placement is "one". */
  readonly holderOf: (server: string) => string | undefined;
}

export function statusOf(server: CompiledServer | undefined, sources: Sources): ConnectionStatus {
  const status = connectionOf(server, sources);
  if (!server) return status;
  const { uuid, updatedAt } = server.object;
  const { history } = sources;
  const failed = status.state === "failed" && server.reason === undefined;
  const known = history.since(uuid, status.state);
  const failure = sources.failures.of(server);
  // An invalid server has been invalid since its last change. One that failed before the start still fails.
  const since = server.reason !== undefined ? updatedAt : failed ? (failure?.since ?? known) : known;
  // Where it worked since the start, a failure of another replica says nothing.
  const untried = status.state === "idle" && history.since(uuid, "active") === undefined;
  const needsLogin = failed && history.needsLogin(uuid);
  const output = failed ? history.output(uuid) : undefined;
  const replica = sources.holderOf(uuid);
  const touches = server.spec?.kind === "stdio" ? touchesOf(server.spec) : undefined;
  return {
    ...status,
    ...(replica !== undefined && { replica }),
    ...(since !== undefined && { since }),
    ...(untried && failure && { lastFailure: failure }),
    ...(touches !== undefined && { touches }),
    ...(needsLogin && { needsLogin }),
    ...(output !== undefined && { output }),
  };
}

function connectionOf(server: CompiledServer | undefined, sources: Sources): ConnectionStatus {
  const { engine, reach } = sources;
  if (!server) return { state: "closed", connected: false, toolCount: 0, reason: "there is no such server" };
  const { uuid } = server.object;
  const toolCount = engine.catalog.snapshot.listings.get(uuid)?.tools.length ?? 0;
  if (server.disabled) return { state: "disabled", connected: false, toolCount };
  const fault = server.reason ?? reach.fault(uuid);
  const status = engine.scope.server(uuid);
  if (fault !== undefined || !status)
    return {
      state: "failed",
      connected: false,
      toolCount: 0,
      ...retry(status),
      reason: fault ?? "it is not known",
    };
  const { state, connected, reason } = status;
  // Between the old and the new connection the engine has none.
  const shown = reach.changing(uuid) && !connected ? "connecting" : state;
  return {
    state: shown,
    connected,
    toolCount,
    ...retry(status),
    ...(reason === undefined ? {} : { reason }),
    ...(status.instances === undefined ? {} : { instances: status.instances }),
  };
}

function retry(
  status: { readonly retryAfterMs?: number } | undefined,
): Pick<ConnectionStatus, "retryAfterMs"> {
  return status?.retryAfterMs === undefined ? {} : { retryAfterMs: status.retryAfterMs };
}
