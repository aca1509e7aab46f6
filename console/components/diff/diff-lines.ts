/** What changed between two texts, line by line: the fewest lines taken out and put in. */
export interface LineChange {
  readonly kind: "same" | "removed" | "added";
  readonly text: string;
  /** Place in the text before and after, from 1. */
  readonly before?: number;
  readonly after?: number;
}

/** Beyond so many changed lines the rest counts as replaced: nobody reads it line by line. */
const MOST_STEPS = 800;

export function diffLines(before: string, after: string): readonly LineChange[] {
  const a = lines(before);
  const b = lines(after);
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head += 1;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a.at(-1 - tail) === b.at(-1 - tail)) tail += 1;
  const pairs = matches(a.slice(head, a.length - tail), b.slice(head, b.length - tail));
  return merge(a, b, [
    ...Array.from({ length: head }, (_, at) => [at, at] as const),
    ...pairs.map(([x, y]) => [x + head, y + head] as const),
    ...Array.from({ length: tail }, (_, at) => [a.length - tail + at, b.length - tail + at] as const),
  ]);
}

function lines(text: string): readonly string[] {
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}

type Pair = readonly [number, number];

/** How far one gets on each diagonal; diagonal k is at k + `MOST_STEPS` + 1. */
type Ends = Int32Array;
const ORIGIN = MOST_STEPS + 1;

/** Lines that both have, in order: Myers' shortest way through the grid of both. */
function matches(a: readonly string[], b: readonly string[]): readonly Pair[] {
  const ends: Ends = new Int32Array(2 * ORIGIN + 1);
  const trail: Ends[] = [];
  for (let steps = 0; steps <= MOST_STEPS; steps += 1) {
    trail.push(ends.slice());
    for (let k = -steps; k <= steps; k += 2) {
      const down = goesDown(ends, k, steps);
      let x = down ? at(ends, k + 1) : at(ends, k - 1) + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x += 1;
      ends[ORIGIN + k] = x;
      if (x >= a.length && x - k >= b.length) return walkBack(trail, a.length, b.length);
    }
  }
  return [];
}

/** Whether one comes to diagonal k by an added line, and not by a removed one. */
function goesDown(ends: Ends, k: number, steps: number): boolean {
  return k === -steps || (k !== steps && at(ends, k - 1) < at(ends, k + 1));
}

function at(ends: Ends, k: number): number {
  return ends[ORIGIN + k] ?? 0;
}

function walkBack(trail: readonly Ends[], width: number, height: number): readonly Pair[] {
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
  for (let steps = trail.length - 1; steps > 0; steps -= 1) {
    const ends = trail[steps] as Ends;
    const k = x - y;
    const from = goesDown(ends, k, steps) ? k + 1 : k - 1;
    backTo(at(ends, from), at(ends, from) - from);
    x = at(ends, from);
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
