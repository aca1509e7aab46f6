/** A line chart of one number, small enough for a line of text, with a description for screen readers. */
import { sparkPaths } from "./spark-paths.ts";
import "./charts.css";

export interface SparklineProps {
  /** What is measured, and over which time: "Calls per minute, last hour". */
  readonly label: string;
  /** Oldest first; undefined if nothing was measured. */
  readonly values: readonly (number | undefined)[];
  readonly format?: (value: number) => string;
  readonly width?: number;
  readonly height?: number;
}

export function Sparkline({ label, values, format = String, width = 96, height = 24 }: SparklineProps) {
  const known = values.filter((value) => value !== undefined);
  const { line, area, dots } = sparkPaths(values, width, height);
  const last = known.at(-1);
  const description =
    last === undefined
      ? label
      : `${label}: ${format(last)}, between ${format(Math.min(...known))} and ${format(Math.max(...known))}`;
  return (
    <svg
      class="sparkline"
      role="img"
      aria-label={description}
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
    >
      <title>{description}</title>
      <path class="sparkline-area" d={area} />
      <path class="sparkline-line" d={line} />
      {dots.map(({ x, y }) => (
        <circle key={x} class="sparkline-dot" cx={x} cy={y} r="1.5" />
      ))}
    </svg>
  );
}
