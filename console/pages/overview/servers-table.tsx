/** The table of servers on the overview. */
import type { Server } from "../../api/types.ts";
import { Table } from "../../components/table.tsx";
import { go } from "../../navigate.ts";
import { overviewTexts } from "../../texts/overview.ts";
import { COLUMNS } from "../servers/server-columns.tsx";
import { useServerRows } from "../servers/use-server-rows.ts";

const texts = overviewTexts.servers;

export function ServersTable({ servers }: { readonly servers: readonly Server[] }) {
  const rows = useServerRows(servers);
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
