/** Calls and durations over time, of one server, tool, endpoint, person or key. */
import type { Usage } from "../api/types.ts";
import { HeatRows } from "../components/chart/heat-rows.tsx";
import { OutcomeLegend, TimeBars } from "../components/chart/time-bars.tsx";
import { TimeLines } from "../components/chart/time-lines.tsx";
import { Skeleton } from "../components/skeleton.tsx";
import { useResource } from "../live/resource.ts";
import { go } from "../navigate.ts";
import { usageTexts as texts } from "../texts/usage.ts";
import { type CallsFilter, callsHref } from "./calls-href.ts";
import { RangePicker, rangeInAddress } from "./usage-range.tsx";

const EVERY_MS = 10_000;
/** Sums have one name for all tools that are not known. */
const OTHER = "other";
const MOST_TOOLS = 8;

export interface UsageChartsProps {
  /** Ids, as the request takes them. */
  readonly filter: Readonly<Partial<Record<"server" | "tool" | "endpoint" | "principal" | "key", string>>>;
  /** The same as the audit log takes them. */
  readonly calls: CallsFilter;
}

export function UsageCharts({ filter, calls }: UsageChartsProps) {
  const usage = useResource("/usage", { range: rangeInAddress(), ...filter }, { everyMs: EVERY_MS }).value;
  return (
    <section class="stack-small">
      <div class="line spread">
        <OutcomeLegend />
        <RangePicker />
      </div>
      {usage.value ? (
        <Charts
          usage={usage.value}
          calls={calls}
          byTool={filter.server !== undefined && filter.tool === undefined}
        />
      ) : usage.problem ? (
        <p class="note">{usage.problem.message}</p>
      ) : (
        <Skeleton kind="block" height={170} />
      )}
    </section>
  );
}

interface ChartsProps {
  readonly usage: Usage;
  readonly calls: CallsFilter;
  readonly byTool: boolean;
}

function Charts({ usage, calls, byTool }: ChartsProps) {
  const { range, per, series, took, bounds } = usage;
  const openSteps = (first: number, last: number): void =>
    go(callsHref({ ...calls, from: series[first]?.at, to: series[last + 1]?.at }));
  const rows = took.slice(0, MOST_TOOLS).map(({ tool = "", method, buckets, p95Ms }) => ({
    key: `${tool} ${method ?? ""}`,
    name: <bdi>{tool === OTHER ? texts.flow.unknown : tool}</bdi>,
    buckets,
    p95Ms,
  }));
  return (
    <>
      <TimeBars
        label={texts.bars.label(per, range)}
        per={per}
        steps={series}
        onPick={openSteps}
        height={130}
      />
      {took.length > 0 && (
        <>
          <h3>{texts.took.times}</h3>
          <TimeLines label={texts.took.timesLabel(range)} per={per} steps={series} height={130} />
          <p class="small muted">{texts.took.legend}</p>
          {byTool && <HeatRows label={texts.took.byTool} bounds={bounds} rows={rows} />}
        </>
      )}
    </>
  );
}
