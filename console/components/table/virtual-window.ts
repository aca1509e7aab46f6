/** Computes which rows of a long list to render: the visible ones and some around them. */
export interface Window {
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
}

export interface View {
  readonly count: number;
  readonly rowHeight: number;
  /** Position of the first row relative to the top of the viewport; negative if scrolled past. */
  readonly top: number;
  readonly height: number;
}

/** Lists up to this length are rendered completely, so that the browser's search finds everything in them. */
export const RENDER_ALL_UP_TO = 100;
const OVERSCAN = 12;
/** Windows start at multiples of this number, so that most scroll events render nothing. */
const STEP = 8;

export function windowOf({ count, rowHeight, top, height }: View): Window {
  if (count <= RENDER_ALL_UP_TO) return { start: 0, end: count };
  const first = Math.floor(-top / rowHeight) - OVERSCAN;
  const last = Math.ceil((height - top) / rowHeight) + OVERSCAN;
  const start = clamp(Math.floor(first / STEP) * STEP, count);
  return { start, end: Math.max(start, clamp(Math.ceil(last / STEP) * STEP, count)) };
}

function clamp(value: number, count: number): number {
  return Math.min(Math.max(value, 0), count);
}
