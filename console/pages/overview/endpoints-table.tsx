/** The endpoints: what each offers, to whom, and how much it is used. */
import { useMemo } from "preact/hooks";
import type { Endpoint, Stats } from "../../api/types.ts";
import { StatusShape } from "../../components/status.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { count } from "../../format.ts";
import { CONFIG, useList } from "../../live/resource.ts";
import { go } from "../../navigate.ts";
import { may } from "../../session.ts";
import { overviewTexts } from "../../texts/overview.ts";
import { accessWord } from "../endpoints/endpoint-columns.tsx";

const texts = overviewTexts.endpoints;

interface Row {
  readonly endpoint: Endpoint;
  readonly namespaces: string;
  readonly clients: number;
  readonly calls: number;
}

const COLUMNS: readonly Column<Row>[] = [
  {
    id: "name",
    head: texts.columns.name,
    value: ({ endpoint }) => endpoint.name,
    cell: ({ endpoint: { name, disabled } }) => (
      <span class="endpoint-name">
        <bdi class="mono cut">{name}</bdi>
        {disabled && (
          <span class="faint small">
            <StatusShape state="off" /> {texts.off}
          </span>
        )}
      </span>
    ),
    width: "clamp(96px, 16vw, 240px)",
  },
  {
    id: "surface",
    head: texts.columns.surface,
    value: ({ endpoint }) => endpoint.surface,
    hideBelow: "medium",
  },
  {
    id: "namespaces",
    head: texts.columns.namespaces,
    value: ({ namespaces }) => namespaces,
    mono: true,
    hideBelow: "small",
  },
  { id: "access", head: texts.columns.access, value: ({ endpoint }) => accessWord(endpoint) },
  {
    id: "calls",
    head: texts.columns.calls,
    value: ({ calls }) => calls,
    cell: ({ calls }) => count(calls),
    align: "end",
    width: "140px",
  },
];
const CLIENTS: Column<Row> = {
  id: "clients",
  head: texts.columns.clients,
  value: ({ clients }) => clients,
  cell: ({ clients }) => count(clients),
  align: "end",
  width: "90px",
  hideBelow: "small",
};
const WITH_CLIENTS = [...COLUMNS.slice(0, -1), CLIENTS, ...COLUMNS.slice(-1)];

interface EndpointsTableProps {
  readonly endpoints: readonly Endpoint[];
  readonly stats: Stats | undefined;
}

export function EndpointsTable({ endpoints, stats }: EndpointsTableProps) {
  const seesClients = may("sessions");
  const namespaces = useList("/namespaces", {}, CONFIG).value.value;
  const sessions = useList("/sessions", seesClients ? {} : undefined, { on: ["session"] }).value.value;
  const rows = useMemo((): readonly Row[] => {
    const names = new Map(namespaces?.map(({ uuid, name }) => [uuid, name]));
    const used = new Map(stats?.rows.map(({ endpoint, calls }) => [endpoint?.uuid, calls]));
    return endpoints.map((endpoint) => ({
      endpoint,
      namespaces: endpoint.namespaces.map((uuid) => names.get(uuid) ?? "…").join(", "),
      clients: sessions?.filter((session) => session.endpoint.uuid === endpoint.uuid).length ?? 0,
      calls: used.get(endpoint.uuid) ?? 0,
    }));
  }, [endpoints, namespaces, sessions, stats]);
  return (
    <Table
      label={texts.title}
      rows={rows}
      columns={seesClients ? WITH_CLIENTS : COLUMNS}
      rowKey={({ endpoint }) => endpoint.uuid}
      rowName={({ endpoint }) => endpoint.name}
      onOpen={({ endpoint }) => go({ page: "endpoints", id: endpoint.uuid })}
      empty={<p class="padded muted">{texts.none}</p>}
    />
  );
}
