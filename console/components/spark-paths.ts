/**
 * Computes the geometry of a sparkline: line segments where values exist, the area below them, dots for
 * isolated values.
 */
export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface SparkPaths {
  readonly line: string;
  readonly area: string;
  readonly dots: readonly Point[];
}

const MARGIN = 2;

/** The scale starts at zero. Otherwise small changes of a steady number would look large. */
export function sparkPaths(
  values: readonly (number | undefined)[],
  width: number,
  height: number,
): SparkPaths {
  const max = Math.max(...values.map((value) => value ?? 0), Number.MIN_VALUE);
  const step = (width - 2 * MARGIN) / Math.max(values.length - 1, 1);
  const segments: Point[][] = [[]];
  values.forEach((value, index) => {
    if (value === undefined) segments.push([]);
    else
      segments.at(-1)?.push({
        x: round(MARGIN + index * step),
        y: round(height - MARGIN - (Math.max(value, 0) / max) * (height - 2 * MARGIN)),
      });
  });
  const lines = segments.filter((segment) => segment.length > 1);
  return {
    line: lines.map(path).join(""),
    area: lines
      .map(
        (segment) =>
          `${path(segment)}L${segment.at(-1)?.x} ${height - MARGIN}L${segment[0]?.x} ${height - MARGIN}Z`,
      )
      .join(""),
    dots: segments.flatMap((segment) => (segment.length === 1 ? segment : [])),
  };
}

function path(points: readonly Point[]): string {
  return points.map(({ x, y }, index) => `${index === 0 ? "M" : "L"}${x} ${y}`).join("");
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
