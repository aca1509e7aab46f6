/**
 * The page Overview: current problems, key figures, endpoints and servers. Shows the first run if there are
 * no servers.
 */
import { hrefOf } from "../../address.ts";
import { Button } from "../../components/button.tsx";
import { Skeleton } from "../../components/skeleton.tsx";
import { exactly } from "../../format.ts";
import { ATTENTION, CONFIG, STATES, useList, useResource } from "../../live/resource.ts";
import { address } from "../../navigate.ts";
import { PageView } from "../../page-view.tsx";
import { RangePicker } from "../../parts/usage-range.tsx";
import { may } from "../../session.ts";
import { PageHead } from "../../shell/page-head.tsx";
import { Ready } from "../../shell/ready.tsx";
import { overviewTexts as texts } from "../../texts/overview.ts";
import { useEndpointLists } from "../endpoints/use-endpoint-row.ts";
import { ServersSummary } from "../servers/servers-summary.tsx";
import { AttentionList } from "./attention-list.tsx";
import { Figures } from "./figures.tsx";
import { EndpointsTable, ServersTable } from "./overview-tables.tsx";
import { UsageView } from "./usage-view.tsx";
import { useOverviewUsage } from "./use-overview-usage.ts";
import "./overview.css";

const loadFirstRun = () => import("./first-run.tsx");

export default function Overview() {
  const servers = useList("/mcp-servers", {}, STATES);
  // All requests of the page begin now, and not one after the other.
  useOverviewUsage();
  useResource("/attention", {}, ATTENTION);
  useList("/endpoints", {}, CONFIG);
  useEndpointLists();
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

/** Each part takes its own data, so that the others are not rendered again. */
function OverviewContent() {
  return (
    <>
      <Head />
      <div class="sections">
        <Unused />
        <Problems />
        <Calls />
        <EndpointsTable />
        <ServersTable />
      </div>
    </>
  );
}

function Head() {
  const servers = useList("/mcp-servers", {}, STATES).value.value ?? [];
  const offer = useConnectOffer();
  return (
    <PageHead
      title={texts.title}
      summary={<ServersSummary servers={servers} />}
      actions={
        <>
          <RangePicker />
          {offer === "button" && <ConnectClient kind="plain" />}
        </>
      }
    />
  );
}

function Unused() {
  if (useConnectOffer() !== "panel") return null;
  return (
    <section class="panel padded line spread">
      {texts.start.unused}
      <ConnectClient kind="primary" />
    </section>
  );
}

/** Where the step that connects a client is offered: in the way if nobody used the gateway for a month. */
function useConnectOffer(): "none" | "button" | "panel" {
  const calls = useOverviewUsage().value.value?.totals.calls;
  const noCalls = calls === 0 && may("servers.write");
  const month = useResource("/usage", noCalls ? { range: "30d" } : undefined, {}).value.value?.totals;
  if (!noCalls || !month) return "none";
  return month.calls === 0 && month.tokensFull === 0 ? "panel" : "button";
}

function ConnectClient({ kind }: { readonly kind: "plain" | "primary" }) {
  return (
    <Button kind={kind} href={hrefOf({ page: "overview", query: { start: "1" } })}>
      {texts.start.resume}
    </Button>
  );
}

function Problems() {
  const servers = useList("/mcp-servers", {}, STATES).value.value ?? [];
  const attention = useResource("/attention", {}, ATTENTION).value.value;
  return attention ? <AttentionList attention={attention} servers={servers} /> : null;
}

function Calls() {
  const { value: usage, problem } = useOverviewUsage().value;
  return (
    <>
      <Figures usage={usage} />
      {usage && usage.since > usage.from && (
        <p class="small muted figures-since">{texts.counted(exactly(Date.parse(usage.since)))}</p>
      )}
      {problem && <p class="note">{problem.message}</p>}
      {usage ? <UsageView usage={usage} /> : !problem && <Skeleton kind="block" height={420} />}
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
