/** Adds figures to servers. */
import { useMemo } from "preact/hooks";
import type { Server, Usage } from "../../api/types.ts";
import type { ServerRow } from "./server-columns.tsx";

export function useServerRows(servers: readonly Server[], usage: Usage | undefined): readonly ServerRow[] {
  return useMemo(() => {
    const figures = new Map(usage?.took.map((row) => [row.server?.uuid, row]));
    return servers.map((server) => ({ server, figures: figures.get(server.uuid) }));
  }, [servers, usage]);
}
