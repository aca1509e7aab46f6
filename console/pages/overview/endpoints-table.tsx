/** The table of endpoints on the overview: surface, access and use. */
import type { Endpoint, Stats } from "../../api/types.ts";
import { Table } from "../../components/table.tsx";
import { go } from "../../navigate.ts";
import { overviewTexts } from "../../texts/overview.ts";
import { endpointColumns } from "../endpoints/endpoint-columns.tsx";
import { useEndpointRow } from "../endpoints/use-endpoint-row.ts";

const texts = overviewTexts.endpoints;

interface EndpointsTableProps {
  readonly endpoints: readonly Endpoint[];
  readonly stats: Stats | undefined;
}

export function EndpointsTable({ endpoints, stats }: EndpointsTableProps) {
  return (
    <Table
      label={texts.title}
      rows={endpoints.map(useEndpointRow(stats))}
      columns={endpointColumns()}
      rowKey={({ endpoint }) => endpoint.uuid}
      rowName={({ endpoint }) => endpoint.name}
      onOpen={({ endpoint }) => go({ page: "endpoints", id: endpoint.uuid })}
      empty={<p class="padded muted">{texts.none}</p>}
    />
  );
}
