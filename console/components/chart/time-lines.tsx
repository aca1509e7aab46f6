/** Median and 95th percentile of durations over time. */
import { duration } from "../../format.ts";
import { componentTexts } from "../../texts/components.ts";
import { ChartFrame } from "./chart-frame.tsx";
import { type Per, stepLabel } from "./chart-scale.ts";

export interface DurationStep {
  readonly at: string;
  readonly p50Ms?: number;
  readonly p95Ms?: number;
}

export interface TimeLinesProps {
  readonly label: string;
  readonly per: Per;
  readonly steps: readonly DurationStep[];
  readonly height?: number;
}

const texts = componentTexts.chart;
const LINES = ["p50Ms", "p95Ms"] as const;

export function TimeLines({ label, per, steps, height }: TimeLinesProps) {
  const times = steps.map(({ at }) => Date.parse(at));
  const describe = (at: number): string => {
    const { p50Ms, p95Ms } = steps[at] ?? {};
    const said =
      p50Ms === undefined || p95Ms === undefined
        ? texts.noCalls
        : texts.durations(duration(p50Ms), duration(p95Ms));
    return `${stepLabel(times[at] ?? 0, per, true)}: ${said}`;
  };
  return (
    <ChartFrame
      label={label}
      times={times}
      per={per}
      max={Math.max(1, ...steps.map(({ p95Ms = 0 }) => p95Ms))}
      format={duration}
      describe={describe}
      {...(height !== undefined && { height })}
    >
      {({ left, step, y }) =>
        LINES.flatMap((name) =>
          lineSegments(steps.map((one) => one[name])).map((segment) => {
            const points = segment.map(({ at, value }) => ({ x: left + (at + 0.5) * step, y: y(value) }));
            const key = `${name} ${segment[0]?.at}`;
            return points.length === 1 ? (
              <circle key={key} class={`chart-dot-${name}`} cx={points[0]?.x} cy={points[0]?.y} r="2" />
            ) : (
              <polyline
                key={key}
                class={`chart-line-${name}`}
                points={points.map((p) => `${p.x},${p.y}`).join(" ")}
              />
            );
          }),
        )
      }
    </ChartFrame>
  );
}

interface Measured {
  readonly at: number;
  readonly value: number;
}

/** Splits the values where nothing was measured, because a line there would be invented. */
function lineSegments(values: readonly (number | undefined)[]): readonly (readonly Measured[])[] {
  const segments: Measured[][] = [];
  let open = false;
  for (const [at, value] of values.entries()) {
    if (value === undefined) open = false;
    else {
      if (!open) segments.push([]);
      open = true;
      segments.at(-1)?.push({ at, value });
    }
  }
  return segments;
}
