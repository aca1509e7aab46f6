/** Calls over time as bars: answered, refused, failed. */
import { count } from "../../format.ts";
import { componentTexts } from "../../texts/components.ts";
import { ChartFrame } from "./chart-frame.tsx";
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
      onPick={onPick}
      {...(height !== undefined && { height })}
    >
      {({ left, step, y, bottom }) =>
        steps.flatMap(({ calls, errors, refused }, at) => {
          let below = 0;
          return [calls - errors - refused, refused, errors].map((part, kind) => {
            const from = y(below);
            below += part;
            if (part === 0) return undefined;
            const top = Math.min(y(below), from - 1);
            return (
              <rect
                key={`${at} ${kind}`}
                class={`chart-${PARTS[kind]}`}
                x={left + at * step + Math.min(1, step / 8)}
                width={Math.max(1, step - Math.min(2, step / 4))}
                y={top}
                height={Math.min(from, bottom) - top}
              />
            );
          });
        })
      }
    </ChartFrame>
  );
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
