/** Adds statistics to servers. All tables share one request. */
import { useMemo } from "preact/hooks";
import type { Server } from "../../api/types.ts";
import { useResource } from "../../live/resource.ts";
import type { ServerRow } from "./server-columns.tsx";

const STATS_MS = 15_000;

export function useServerRows(servers: readonly Server[]): readonly ServerRow[] {
  const usage = useResource("/usage", { range: "1h" }, { everyMs: STATS_MS }).value.value;
  return useMemo(() => {
    const figures = new Map(usage?.took.map((row) => [row.server?.uuid, row]));
    return servers.map((server) => ({ server, figures: figures.get(server.uuid) }));
  }, [servers, usage]);
}
