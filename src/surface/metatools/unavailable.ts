/** Lists servers that cannot be used, and why, so that a client can tell "no tools" from "not reachable". */
import type { UnknownServer } from "../../catalog/catalog-loader.ts";
import type { Asker } from "../../kernel/list-key.ts";
import type { ScopeCatalog } from "../scope.ts";

export interface Unavailable {
  readonly server: string;
  readonly reason: string;
  readonly retryAfterMs?: number;
}

export function unavailableOf(
  scope: Pick<ScopeCatalog, "servers">,
  unknown: readonly UnknownServer[],
  asker: Asker,
  only?: string,
): readonly Unavailable[] {
  const missing = new Map(unknown.map(({ server, reason }) => [server, reason]));
  return scope.servers(asker).flatMap(({ name, state, reason, retryAfterMs = 0 }) => {
    const down = state === "failed" || missing.has(name);
    if (!down || (only !== undefined && only !== name)) return [];
    return [
      {
        server: name,
        reason: reason ?? missing.get(name) ?? "it is down",
        ...(retryAfterMs > 0 && { retryAfterMs: Math.ceil(retryAfterMs) }),
      },
    ];
  });
}
