/** Counts side by side: over time, or by size. The bad part of each stands at its foot, hatched. */
import { useId } from "preact/hooks";
import { componentTexts } from "../texts/components.ts";
import "./charts.css";

export interface Bucket {
  /** Where it stands: "14:05", "100–200 ms". */
  readonly label: string;
  readonly count: number;
  /** How many of them are bad. */
  readonly bad?: number;
}

export interface HistogramProps {
  /** What is counted, over which time. */
  readonly label: string;
  readonly buckets: readonly Bucket[];
  readonly height?: number;
  readonly format?: (count: number) => string;
  /** Makes each bar a button: filter by click. */
  readonly onPick?: (bucket: Bucket) => void;
}

const texts = componentTexts.histogram;

export function Histogram({ label, buckets, height = 72, format = String, onPick }: HistogramProps) {
  const id = useId();
  const most = Math.max(...buckets.map(({ count }) => count), 1);
  const total = buckets.reduce((sum, { count }) => sum + count, 0);
  const bad = buckets.reduce((sum, bucket) => sum + (bucket.bad ?? 0), 0);
  const words = `${label}: ${texts.summary(format(total), format(bad), format(most))}`;
  const said = ({ label: at, count, bad: wrong = 0 }: Bucket) =>
    `${at}: ${format(count)}${wrong > 0 ? `, ${texts.bad(format(wrong))}` : ""}`;
  return (
    <figure class="histogram">
      <svg class="histogram-patterns" width="0" height="0" aria-hidden="true">
        <pattern id={`${id}-bad`} width="10" height="5" patternUnits="userSpaceOnUse">
          <rect class="histogram-bad" width="10" height="3" />
        </pattern>
      </svg>
      <div class="histogram-most number" aria-hidden="true">
        {format(most)}
      </div>
      <div
        class="histogram-bars"
        {...{ role: onPick ? "group" : "img", "aria-label": words }}
        style={{ height: `${height}px` }}
      >
        {buckets.map((bucket) => {
          const bar = (
            <svg viewBox="0 0 10 100" preserveAspectRatio="none" aria-hidden="true">
              <Bar id={id} share={bucket.count / most} badShare={(bucket.bad ?? 0) / most} />
            </svg>
          );
          return onPick ? (
            <button
              key={bucket.label}
              type="button"
              class="histogram-bar"
              title={said(bucket)}
              aria-label={said(bucket)}
              onClick={() => onPick(bucket)}
            >
              {bar}
            </button>
          ) : (
            <span key={bucket.label} class="histogram-bar" title={said(bucket)}>
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

/** What is there is at least seen. */
const LEAST = 2;

function Bar({
  id,
  share,
  badShare,
}: {
  readonly id: string;
  readonly share: number;
  readonly badShare: number;
}) {
  const tall = share === 0 ? 0 : Math.max(share * 100, LEAST);
  const wrong = badShare === 0 ? 0 : Math.max(badShare * 100, LEAST);
  return (
    <>
      <rect class="histogram-count" x="0" width="10" y={100 - tall} height={tall} />
      {wrong > 0 && (
        <>
          <rect class="histogram-ground" x="0" width="10" y={100 - wrong} height={wrong} />
          <rect x="0" width="10" y={100 - wrong} height={wrong} fill={`url(#${id}-bad)`} />
        </>
      )}
    </>
  );
}
