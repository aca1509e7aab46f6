/** The tables of endpoints and servers on the overview. */
import { Skeleton } from "../../components/skeleton.tsx";
import { Table } from "../../components/table.tsx";
import { CONFIG, STATES, useList } from "../../live/resource.ts";
import { go } from "../../navigate.ts";
import { byRange, rangeInAddress } from "../../parts/usage-range.tsx";
import { Ready } from "../../shell/ready.tsx";
import { overviewTexts as texts } from "../../texts/overview.ts";
import { endpointColumns } from "../endpoints/endpoint-columns.tsx";
import { useEndpointRow } from "../endpoints/use-endpoint-row.ts";
import { columnsOf } from "../servers/server-columns.tsx";
import { useServerRows } from "../servers/use-server-rows.ts";
import { useOverviewUsage } from "./use-overview-usage.ts";

/** What a server runs is on the page Servers. Here its state has that room. */
const SERVER_COLUMNS = byRange((words) => columnsOf(words).filter(({ id }) => id !== "reached"));

export function EndpointsTable() {
  const endpoints = useList("/endpoints", {}, CONFIG);
  const rowOf = useEndpointRow(useOverviewUsage().value.value);
  return (
    <section class="stack-small">
      <h2>{texts.endpoints.title}</h2>
      <Ready of={endpoints} loading={<Skeleton rows={3} kind="row" />}>
        {(all) => (
          <Table
            label={texts.endpoints.title}
            rows={all.map(rowOf)}
            columns={endpointColumns(rangeInAddress())}
            rowKey={({ endpoint }) => endpoint.uuid}
            rowName={({ endpoint }) => endpoint.name}
            onOpen={({ endpoint }) => go({ page: "endpoints", id: endpoint.uuid })}
            empty={<p class="padded muted">{texts.endpoints.none}</p>}
          />
        )}
      </Ready>
    </section>
  );
}

export function ServersTable() {
  const servers = useList("/mcp-servers", {}, STATES).value.value ?? [];
  const rows = useServerRows(servers, useOverviewUsage().value.value);
  return (
    <section class="stack-small">
      <h2>{texts.servers.title}</h2>
      <Table
        label={texts.servers.title}
        rows={rows}
        columns={SERVER_COLUMNS[rangeInAddress()]}
        rowKey={({ server }) => server.uuid}
        rowName={({ server }) => server.name}
        onOpen={({ server }) => go({ page: "servers", id: server.uuid })}
        sorting={{ column: "state", descending: false }}
        empty={<p class="padded muted">{texts.servers.none}</p>}
      />
    </section>
  );
}
