/** Samples: loading and empty states, charts. */
import { Button } from "../../components/button.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { Histogram } from "../../components/histogram.tsx";
import { Skeleton } from "../../components/skeleton.tsx";
import { Sparkline } from "../../components/sparkline.tsx";
import { State } from "./state.tsx";

export function Waiting() {
  return (
    <>
      <State name="Loading: text, rows, a block">
        <Skeleton />
        <div class="panel">
          <Skeleton kind="row" rows={3} />
        </div>
        <Skeleton kind="block" height={72} />
      </State>
      <State name="Empty">
        <div class="panel">
          <EmptyState title="No keys yet" action={<Button kind="primary">Create key</Button>}>
            A client can use a key instead of a login. A key is shown only once.
          </EmptyState>
        </div>
      </State>
    </>
  );
}

const CALLS = Array.from({ length: 60 }, (_, at) =>
  Math.round(40 + 30 * Math.sin(at / 6) + ((at * 17) % 13)),
);

export function Charts() {
  return (
    <>
      <State name="Sparkline: complete, with gaps, all zero">
        <div class="line">
          <Sparkline label="Calls per minute, last hour" values={CALLS} width={160} height={32} />
          <Sparkline
            label="Calls per minute"
            values={CALLS.map((one, at) => (at % 20 < 14 ? one : undefined))}
          />
          <Sparkline label="Calls per minute" values={CALLS.map(() => 0)} />
        </div>
      </State>
      <State name="Histogram: over time, with failures">
        <Histogram
          label="Calls per minute, last hour"
          buckets={CALLS.map((count, at) => ({
            label: `14:${String(at).padStart(2, "0")}`,
            count,
            bad: at % 9 === 4 ? Math.round(count / 4) : 0,
          }))}
        />
      </State>
      <State name="Histogram: by size, filter by click">
        <Histogram
          label="Calls by duration"
          height={56}
          onPick={() => {}}
          buckets={["< 10 ms", "< 50 ms", "< 100 ms", "< 500 ms", "< 1 s", "≥ 1 s"].map((label, at) => ({
            label,
            count: [120, 340, 210, 60, 14, 3][at] ?? 0,
            bad: at > 3 ? 3 : 0,
          }))}
        />
      </State>
    </>
  );
}
