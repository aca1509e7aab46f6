/** Compares two texts line by line and finds the fewest removed and added lines. */
export interface LineChange {
  readonly kind: "same" | "removed" | "added";
  readonly text: string;
  /** Line numbers in the old and the new text, from 1. */
  readonly before?: number;
  readonly after?: number;
}

/**
 * If more lines changed, the differing middle part counts as replaced: a diff of that size is not readable.
 */
const MAX_STEPS = 800;

export function diffLines(before: string, after: string): readonly LineChange[] {
  const a = lines(before);
  const b = lines(after);
  return merge(a, b, commonItems(a, b));
}

/** Pairs of places that have the same text, in order. */
export function commonItems(a: readonly string[], b: readonly string[]): readonly Pair[] {
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head += 1;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a.at(-1 - tail) === b.at(-1 - tail)) tail += 1;
  const pairs = matches(a.slice(head, a.length - tail), b.slice(head, b.length - tail));
  return [
    ...Array.from({ length: head }, (_, at) => [at, at] as const),
    ...pairs.map(([x, y]) => [x + head, y + head] as const),
    ...Array.from({ length: tail }, (_, at) => [a.length - tail + at, b.length - tail + at] as const),
  ];
}

function lines(text: string): readonly string[] {
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}

export type Pair = readonly [number, number];

/** The furthest x reached on each diagonal; diagonal k is at index k + `MAX_STEPS` + 1. */
type Furthest = Int32Array;
const ORIGIN = MAX_STEPS + 1;

/** Returns the common lines in order, found with Myers' algorithm. */
function matches(a: readonly string[], b: readonly string[]): readonly Pair[] {
  const furthest: Furthest = new Int32Array(2 * ORIGIN + 1);
  const trace: Furthest[] = [];
  for (let steps = 0; steps <= MAX_STEPS; steps += 1) {
    trace.push(furthest.slice());
    for (let k = -steps; k <= steps; k += 2) {
      const down = goesDown(furthest, k, steps);
      let x = down ? at(furthest, k + 1) : at(furthest, k - 1) + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x += 1;
      furthest[ORIGIN + k] = x;
      if (x >= a.length && x - k >= b.length) return backtrack(trace, a.length, b.length);
    }
  }
  return [];
}

/** True if the path reaches diagonal k by an added line, false if by a removed one. */
function goesDown(furthest: Furthest, k: number, steps: number): boolean {
  return k === -steps || (k !== steps && at(furthest, k - 1) < at(furthest, k + 1));
}

function at(furthest: Furthest, k: number): number {
  return furthest[ORIGIN + k] ?? 0;
}

function backtrack(trace: readonly Furthest[], width: number, height: number): readonly Pair[] {
  const pairs: Pair[] = [];
  let x = width;
  let y = height;
  const backTo = (left: number, top: number) => {
    while (x > left && y > top) {
      x -= 1;
      y -= 1;
      pairs.push([x, y]);
    }
  };
  for (let steps = trace.length - 1; steps > 0; steps -= 1) {
    const furthest = trace[steps] as Furthest;
    const k = x - y;
    const from = goesDown(furthest, k, steps) ? k + 1 : k - 1;
    backTo(at(furthest, from), at(furthest, from) - from);
    x = at(furthest, from);
    y = x - from;
  }
  backTo(0, 0);
  return pairs.reverse();
}

function merge(a: readonly string[], b: readonly string[], pairs: readonly Pair[]): readonly LineChange[] {
  const changes: LineChange[] = [];
  let x = 0;
  let y = 0;
  for (const [nextX, nextY] of [...pairs, [a.length, b.length] as const]) {
    for (; x < nextX; x += 1) changes.push({ kind: "removed", text: a[x] ?? "", before: x + 1 });
    for (; y < nextY; y += 1) changes.push({ kind: "added", text: b[y] ?? "", after: y + 1 });
    if (x < a.length) changes.push({ kind: "same", text: a[x] ?? "", before: x + 1, after: y + 1 });
    x += 1;
    y += 1;
  }
  return changes;
}
