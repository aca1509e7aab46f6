/** Calls over time as bars: answered, refused, failed. */
import { count } from "../../format.ts";
import { componentTexts } from "../../texts/components.ts";
import { ChartFrame, type Plot } from "./chart-frame.tsx";
import { type Per, stepLabel } from "./chart-scale.ts";

export interface CallStep {
  readonly at: string;
  readonly calls: number;
  readonly errors: number;
  readonly refused: number;
}

export interface TimeBarsProps {
  readonly label: string;
  readonly per: Per;
  readonly steps: readonly CallStep[];
  readonly onPick?: ((first: number, last: number) => void) | undefined;
  readonly height?: number;
}

const texts = componentTexts.chart;
const PARTS = ["answered", "refused", "failed"] as const;

export function TimeBars({ label, per, steps, onPick, height }: TimeBarsProps) {
  const times = steps.map(({ at }) => Date.parse(at));
  const describe = (at: number): string => {
    const { calls = 0, errors = 0, refused = 0 } = steps[at] ?? {};
    return `${stepLabel(times[at] ?? 0, per, true)}: ${texts.calls(calls, errors, refused)}`;
  };
  return (
    <ChartFrame
      label={label}
      times={times}
      per={per}
      max={Math.max(1, ...steps.map(({ calls }) => calls))}
      format={(value) => (Number.isInteger(value) ? count(value) : "")}
      describe={describe}
      onPick={steps.some(({ calls }) => calls > 0) ? onPick : undefined}
      {...(height !== undefined && { height })}
    >
      {(plot) =>
        PARTS.map((part, kind) => <path key={part} class={`chart-${part}`} d={barsOf(steps, kind, plot)} />)
      }
    </ChartFrame>
  );
}

/** All bars of one colour as one shape: a week has 168 steps. */
function barsOf(steps: readonly CallStep[], kind: number, { left, step, y, bottom }: Plot): string {
  const width = Math.max(1, step - Math.min(2, step / 4));
  return steps
    .map(({ calls, errors, refused }, at) => {
      const parts = [calls - errors - refused, refused, errors];
      const part = parts[kind] ?? 0;
      if (part === 0) return "";
      const below = parts.slice(0, kind).reduce((sum, one) => sum + one, 0);
      const foot = y(below);
      const top = Math.min(y(below + part), foot - 1);
      const x = left + at * step + Math.min(1, step / 8);
      return `M${round(x)} ${round(top)}h${round(width)}V${round(Math.min(foot, bottom))}h${round(-width)}z`;
    })
    .join("");
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

/** What the colours mean. */
export function OutcomeLegend() {
  return (
    <ul class="chart-legend small">
      {PARTS.map((part) => (
        <li key={part} class={`legend-${part}`}>
          {texts.parts[part]}
        </li>
      ))}
    </ul>
  );
}
