/**
 * The page Overview: current problems, key figures, endpoints and servers. Shows the first run if there are
 * no servers.
 */
import { hrefOf } from "../../address.ts";
import type { Endpoint, Server, Usage } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { Skeleton } from "../../components/skeleton.tsx";
import { Table } from "../../components/table.tsx";
import { exactly } from "../../format.ts";
import { ATTENTION, CONFIG, STATES, useList, useResource } from "../../live/resource.ts";
import { address, go } from "../../navigate.ts";
import { PageView } from "../../page-view.tsx";
import { RangePicker, rangeInAddress } from "../../parts/usage-range.tsx";
import { may } from "../../session.ts";
import { PageHead } from "../../shell/page-head.tsx";
import { Ready } from "../../shell/ready.tsx";
import { overviewTexts as texts } from "../../texts/overview.ts";
import { endpointColumns } from "../endpoints/endpoint-columns.tsx";
import { useEndpointRow } from "../endpoints/use-endpoint-row.ts";
import { COLUMNS } from "../servers/server-columns.tsx";
import { ServersSummary } from "../servers/servers-summary.tsx";
import { useServerRows } from "../servers/use-server-rows.ts";
import { AttentionList } from "./attention-list.tsx";
import { Figures } from "./figures.tsx";
import "./overview.css";

/** A step of a longer range takes an hour or a day, and its sums are more. */
const USAGE_MS = { "1h": 5_000, "24h": 5_000, "7d": 60_000, "30d": 60_000 } as const;
const loadUsage = () => import("./usage-view.tsx");
const loadFirstRun = () => import("./first-run.tsx");

export default function Overview() {
  const servers = useList("/mcp-servers", {}, STATES);
  const firstRun = address.value.query["start"] !== undefined;
  return (
    <Ready of={servers} loading={<Loading />}>
      {(items) =>
        firstRun || (items.length === 0 && may("servers.write")) ? (
          <PageView load={loadFirstRun} />
        ) : (
          <OverviewContent />
        )
      }
    </Ready>
  );
}

function OverviewContent() {
  const servers = useList("/mcp-servers", {}, STATES).value.value ?? [];
  const endpoints = useList("/endpoints", {}, CONFIG);
  const range = rangeInAddress();
  const usage = useResource("/usage", { range }, { everyMs: USAGE_MS[range] }).value;
  const attention = useResource("/attention", {}, ATTENTION).value.value;
  const { totals, since, from } = usage.value ?? {};
  const noCalls = totals?.calls === 0 && may("servers.write");
  const month = useResource("/usage", noCalls ? { range: "30d" } : undefined, {}).value.value?.totals;
  const isUnused = noCalls && month?.calls === 0 && month.tokensFull === 0;
  const connect = (kind: "plain" | "primary") => (
    <Button kind={kind} href={hrefOf({ page: "overview", query: { start: "1" } })}>
      {texts.start.resume}
    </Button>
  );
  return (
    <>
      <PageHead
        title={texts.title}
        summary={<ServersSummary servers={servers} />}
        actions={
          <>
            <RangePicker />
            {noCalls && month && !isUnused && connect("plain")}
          </>
        }
      />
      <div class="sections">
        {isUnused && (
          <section class="panel padded line spread">
            {texts.start.unused}
            {connect("primary")}
          </section>
        )}
        {attention && <AttentionList attention={attention} servers={servers} />}
        <Figures usage={usage.value} />
        {since !== undefined && from !== undefined && since > from && (
          <p class="small muted">{texts.counted(exactly(Date.parse(since)))}</p>
        )}
        {usage.problem && <p class="note">{usage.problem.message}</p>}
        {usage.value ? (
          <PageView load={loadUsage} usage={usage.value} />
        ) : (
          !usage.problem && <Skeleton kind="block" height={420} />
        )}
        <section class="stack-small">
          <h2>{texts.endpoints.title}</h2>
          <Ready of={endpoints} loading={<Skeleton rows={3} kind="row" />}>
            {(items) => <EndpointsTable endpoints={items} usage={usage.value} />}
          </Ready>
        </section>
        <section class="stack-small">
          <h2>{texts.servers.title}</h2>
          <ServersTable servers={servers} />
        </section>
      </div>
    </>
  );
}

/** As high as the content that replaces it. */
function Loading() {
  return (
    <>
      <PageHead title={texts.title} />
      <div class="sections">
        <Skeleton kind="block" height={96} />
        <Skeleton rows={4} kind="row" />
        <Skeleton rows={6} kind="row" />
      </div>
    </>
  );
}

/** The table of endpoints on the overview: surface, access and use. */
interface EndpointsTableProps {
  readonly endpoints: readonly Endpoint[];
  readonly usage: Usage | undefined;
}

function EndpointsTable({ endpoints, usage }: EndpointsTableProps) {
  return (
    <Table
      label={texts.endpoints.title}
      rows={endpoints.map(useEndpointRow(usage))}
      columns={endpointColumns()}
      rowKey={({ endpoint }) => endpoint.uuid}
      rowName={({ endpoint }) => endpoint.name}
      onOpen={({ endpoint }) => go({ page: "endpoints", id: endpoint.uuid })}
      empty={<p class="padded muted">{texts.endpoints.none}</p>}
    />
  );
}

/** The table of servers on the overview. */
function ServersTable({ servers }: { readonly servers: readonly Server[] }) {
  const rows = useServerRows(servers);
  return (
    <Table
      label={texts.servers.title}
      rows={rows}
      columns={COLUMNS}
      rowKey={({ server }) => server.uuid}
      rowName={({ server }) => server.name}
      onOpen={({ server }) => go({ page: "servers", id: server.uuid })}
      sorting={{ column: "state", descending: false }}
      empty={<p class="padded muted">{texts.servers.none}</p>}
    />
  );
}
