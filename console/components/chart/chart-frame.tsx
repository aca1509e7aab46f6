/**
 * The frame of charts over time: axes, the step under the pointer or the arrow keys, and a range that people
 * choose by dragging. What is drawn inside is given.
 */
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { componentTexts } from "../../texts/components.ts";
import { labelledSteps, type Per, stepLabel, ticksTo, zoneOf } from "./chart-scale.ts";
import { useWidth } from "./use-width.ts";
import "./chart.css";

export interface Plot {
  readonly left: number;
  readonly step: number;
  readonly y: (value: number) => number;
  readonly bottom: number;
}

export interface ChartFrameProps {
  /** What is shown, and over which time. */
  readonly label: string;
  /** The beginning of each step, oldest first, in milliseconds since 1970. */
  readonly times: readonly number[];
  readonly per: Per;
  readonly max: number;
  readonly format: (value: number) => string;
  /** One line about a step. */
  readonly describe: (at: number) => string;
  /** Opens what happened in these steps. */
  readonly onPick?: ((first: number, last: number) => void) | undefined;
  readonly height?: number;
  readonly children: (plot: Plot) => ComponentChildren;
}

const LEFT = 44;
const TOP = 8;
const FOOT = 20;
const LABEL_WIDTH = 84;

export function ChartFrame(props: ChartFrameProps) {
  const { label, times, per, max, format, describe, onPick, height = 150, children } = props;
  const { ref, width } = useWidth<HTMLDivElement>();
  const at = useSignal<number | undefined>(undefined);
  const from = useSignal<number | undefined>(undefined);
  const ticks = ticksTo(max);
  const top = ticks.at(-1) ?? 1;
  const step = Math.max(0, width - LEFT) / Math.max(1, times.length);
  const bottom = height - FOOT;
  const y = (value: number): number => bottom - (value / top) * (bottom - TOP);
  const stepAt = (event: PointerEvent & { readonly currentTarget: SVGSVGElement }): number => {
    const x = event.clientX - event.currentTarget.getBoundingClientRect().left - LEFT;
    return Math.min(times.length - 1, Math.max(0, Math.floor(x / step)));
  };
  const pick = (last: number): void => {
    const first = from.value ?? last;
    from.value = undefined;
    onPick?.(Math.min(first, last), Math.max(first, last));
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (by !== undefined) {
      event.preventDefault();
      if (event.shiftKey) from.value ??= at.value;
      else from.value = undefined;
      at.value = Math.min(times.length - 1, Math.max(0, (at.value ?? times.length) + by));
    } else if (event.key === "Enter" && at.value !== undefined) pick(at.value);
    else if (event.key === "Escape" && at.value !== undefined) {
      event.stopPropagation();
      at.value = from.value = undefined;
    }
  };
  const first = Math.min(from.value ?? at.value ?? 0, at.value ?? 0);
  const last = Math.max(from.value ?? at.value ?? 0, at.value ?? 0);
  const said =
    at.value === undefined
      ? undefined
      : first === last
        ? describe(at.value)
        : componentTexts.chart.range(
            stepLabel(times[first] ?? 0, per, true),
            stepLabel(times[last] ?? 0, per, true),
          );
  return (
    <div ref={ref} class="chart">
      <svg
        {...{ role: "application", tabIndex: 0 }}
        aria-label={label}
        aria-roledescription={componentTexts.chart.role}
        width={width}
        height={height}
        class={onPick ? "chart-pickable" : undefined}
        onKeyDown={onKeyDown}
        onBlur={() => (at.value = from.value = undefined)}
        onPointerMove={(event) => (at.value = stepAt(event))}
        onPointerLeave={() => {
          if (from.value === undefined) at.value = undefined;
        }}
        onPointerDown={(event) => {
          if (event.button !== 0 || !onPick) return;
          from.value = at.value = stepAt(event);
          event.currentTarget.setPointerCapture(event.pointerId);
        }}
        onPointerUp={(event) => {
          if (from.value !== undefined) pick(stepAt(event));
        }}
      >
        <title>{label}</title>
        {ticks.map((tick) => (
          <g key={tick}>
            <line class="chart-grid" x1={LEFT} x2={width} y1={y(tick)} y2={y(tick)} />
            <text class="chart-tick" x={LEFT - 6} y={y(tick) + 4} text-anchor="end">
              {format(tick)}
            </text>
          </g>
        ))}
        {at.value !== undefined && (
          <rect
            class="chart-chosen"
            x={LEFT + first * step}
            width={(last - first + 1) * step}
            y={TOP}
            height={bottom - TOP}
          />
        )}
        {width > 0 && children({ left: LEFT, step, y, bottom })}
        {labelledSteps(times.length, Math.floor((width - LEFT) / LABEL_WIDTH)).map((index) => (
          <text
            key={index}
            class="chart-tick"
            x={Math.min(LEFT + (index + 0.5) * step, width)}
            y={height - 4}
            text-anchor={index === times.length - 1 ? "end" : "middle"}
          >
            {stepLabel(times[index] ?? 0, per, times.length > 60)}
          </text>
        ))}
      </svg>
      <p class="chart-said small muted" aria-live="polite">
        {said ??
          [onPick && componentTexts.chart.hint, componentTexts.chart.zone(zoneOf(per))]
            .filter(Boolean)
            .join(" ")}
      </p>
    </div>
  );
}
