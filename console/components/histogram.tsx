/** A bar chart of counts over time or by size. The failed part of each bar is hatched, at its bottom. */
import { useId } from "preact/hooks";
import { componentTexts } from "../texts/components.ts";
import "./charts.css";

export interface Bucket {
  /** The position on the axis: "14:05", "100–200 ms". */
  readonly label: string;
  readonly count: number;
  /** How many of `count` failed. */
  readonly bad?: number;
}

export interface HistogramProps {
  /** What is counted, and over which time. */
  readonly label: string;
  readonly buckets: readonly Bucket[];
  readonly height?: number;
  readonly format?: (count: number) => string;
  /** Renders each bar as a button, for filters. */
  readonly onPick?: (bucket: Bucket) => void;
}

const texts = componentTexts.histogram;

export function Histogram({ label, buckets, height = 72, format = String, onPick }: HistogramProps) {
  const id = useId();
  const max = Math.max(...buckets.map(({ count }) => count), 1);
  const total = buckets.reduce((sum, { count }) => sum + count, 0);
  const bad = buckets.reduce((sum, bucket) => sum + (bucket.bad ?? 0), 0);
  const words = `${label}: ${texts.summary(format(total), format(bad), format(max))}`;
  const describe = ({ label: at, count, bad: failed = 0 }: Bucket) =>
    `${at}: ${format(count)}${failed > 0 ? `, ${texts.bad(format(failed))}` : ""}`;
  return (
    <figure class="histogram">
      <svg class="histogram-patterns" width="0" height="0" aria-hidden="true">
        <pattern id={`${id}-bad`} width="10" height="5" patternUnits="userSpaceOnUse">
          <rect class="histogram-bad" width="10" height="3" />
        </pattern>
      </svg>
      <div class="histogram-most number" aria-hidden="true">
        {format(max)}
      </div>
      <div
        class="histogram-bars"
        {...{ role: onPick ? "group" : "img", "aria-label": words }}
        style={{ height: `${height}px` }}
      >
        {buckets.map((bucket) => {
          const bar = (
            <svg viewBox="0 0 10 100" preserveAspectRatio="none" aria-hidden="true">
              <Bar id={id} share={bucket.count / max} badShare={(bucket.bad ?? 0) / max} />
            </svg>
          );
          return onPick ? (
            <button
              key={bucket.label}
              type="button"
              class="histogram-bar"
              title={describe(bucket)}
              aria-label={describe(bucket)}
              onClick={() => onPick(bucket)}
            >
              {bar}
            </button>
          ) : (
            <span key={bucket.label} class="histogram-bar" title={describe(bucket)}>
              {bar}
            </span>
          );
        })}
      </div>
      <figcaption class="histogram-ends number" aria-hidden="true">
        <span>{buckets[0]?.label}</span>
        <span>{buckets.at(-1)?.label}</span>
      </figcaption>
    </figure>
  );
}

/** The smallest height of a bar with a count, in percent. */
const MIN_HEIGHT = 2;

function Bar({
  id,
  share,
  badShare,
}: {
  readonly id: string;
  readonly share: number;
  readonly badShare: number;
}) {
  const barHeight = share === 0 ? 0 : Math.max(share * 100, MIN_HEIGHT);
  const badHeight = badShare === 0 ? 0 : Math.max(badShare * 100, MIN_HEIGHT);
  return (
    <>
      <rect class="histogram-count" x="0" width="10" y={100 - barHeight} height={barHeight} />
      {badHeight > 0 && (
        <>
          <rect class="histogram-ground" x="0" width="10" y={100 - badHeight} height={badHeight} />
          <rect x="0" width="10" y={100 - badHeight} height={badHeight} fill={`url(#${id}-bad)`} />
        </>
      )}
    </>
  );
}
