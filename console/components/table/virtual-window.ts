/** Which rows of a long list are worth rendering: those in view, and some around them. */
export interface Window {
  readonly start: number;
  /** The first that is not rendered. */
  readonly end: number;
}

export interface View {
  readonly count: number;
  readonly rowHeight: number;
  /** Where the first row stands, seen from the top of what is visible; negative once scrolled past. */
  readonly top: number;
  readonly height: number;
}

/** Shorter lists are rendered whole, so that the browser's own search finds everything in them. */
const WHOLE = 100;
const AROUND = 12;
/** Windows begin at multiples of it, so that most scrolling renders nothing. */
const STEP = 8;

export function windowOf({ count, rowHeight, top, height }: View): Window {
  if (count <= WHOLE) return { start: 0, end: count };
  const first = Math.floor(-top / rowHeight) - AROUND;
  const last = Math.ceil((height - top) / rowHeight) + AROUND;
  const start = clamp(Math.floor(first / STEP) * STEP, count);
  return { start, end: Math.max(start, clamp(Math.ceil(last / STEP) * STEP, count)) };
}

function clamp(value: number, count: number): number {
  return Math.min(Math.max(value, 0), count);
}
