/** Geometry of a sparkline: pieces of line where values are known, the area below them, dots for values that stand alone. */
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

/** From zero up, so that a steady number does not look like a storm. */
export function sparkPaths(
  values: readonly (number | undefined)[],
  width: number,
  height: number,
): SparkPaths {
  const most = Math.max(...values.map((value) => value ?? 0), Number.MIN_VALUE);
  const step = (width - 2 * MARGIN) / Math.max(values.length - 1, 1);
  const pieces: Point[][] = [[]];
  values.forEach((value, index) => {
    if (value === undefined) pieces.push([]);
    else
      pieces.at(-1)?.push({
        x: round(MARGIN + index * step),
        y: round(height - MARGIN - (Math.max(value, 0) / most) * (height - 2 * MARGIN)),
      });
  });
  const lines = pieces.filter((piece) => piece.length > 1);
  return {
    line: lines.map(path).join(""),
    area: lines
      .map(
        (piece) => `${path(piece)}L${piece.at(-1)?.x} ${height - MARGIN}L${piece[0]?.x} ${height - MARGIN}Z`,
      )
      .join(""),
    dots: pieces.flatMap((piece) => (piece.length === 1 ? piece : [])),
  };
}

function path(points: readonly Point[]): string {
  return points.map(({ x, y }, index) => `${index === 0 ? "M" : "L"}${x} ${y}`).join("");
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
