/** The servers in short: state and tools. The whole of it is a page of its own. */
import { useMemo } from "preact/hooks";
import type { Server } from "../../api/types.ts";
import { Table } from "../../components/table.tsx";
import { useResource } from "../../live/resource.ts";
import { go } from "../../navigate.ts";
import { overviewTexts } from "../../texts/overview.ts";
import { COLUMNS, type ServerRow } from "../servers/server-columns.tsx";

const texts = overviewTexts.servers;
const STATS_MS = 15_000;

export function ServersTable({ servers }: { readonly servers: readonly Server[] }) {
  const stats = useResource("/stats", { by: "server" }, { everyMs: STATS_MS }).value.value;
  const rows = useMemo((): readonly ServerRow[] => {
    const figures = new Map(stats?.rows.map((row) => [row.server?.uuid, row]));
    return servers.map((server) => ({ server, figures: figures.get(server.uuid) }));
  }, [servers, stats]);
  return (
    <Table
      label={texts.title}
      rows={rows}
      columns={COLUMNS}
      rowKey={({ server }) => server.uuid}
      rowName={({ server }) => server.name}
      onOpen={({ server }) => go({ page: "servers", id: server.uuid })}
      sorting={{ column: "state", descending: false }}
      empty={<p class="padded muted">{texts.none}</p>}
    />
  );
}
