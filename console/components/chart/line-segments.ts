/** Splits values over time where nothing was measured, because a line there would be invented. */
export interface Measured {
  readonly at: number;
  readonly value: number;
}

export function lineSegments(values: readonly (number | undefined)[]): readonly (readonly Measured[])[] {
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
