/** Compares two JSON values path by path. Objects in lists are matched by id or name, not by index. */
type Path = readonly (string | number)[];

export interface ValueChange {
  readonly path: Path;
  /** Absent if the value was added. */
  readonly before?: unknown;
  /** Absent if the value was removed. */
  readonly after?: unknown;
}

export function diffValues(before: unknown, after: unknown): readonly ValueChange[] {
  return [...changesAt([], before, after)];
}

function* changesAt(path: Path, before: unknown, after: unknown): Generator<ValueChange, void> {
  if (same(before, after)) return;
  if (isObject(before) && isObject(after)) yield* inObjects(path, before, after);
  else if (Array.isArray(before) && Array.isArray(after)) yield* inArrays(path, before, after);
  else
    yield {
      path,
      ...(before !== undefined && { before }),
      ...(after !== undefined && { after }),
    };
}

function* inObjects(path: Path, before: Json, after: Json): Generator<ValueChange, void> {
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)]))
    yield* changesAt([...path, key], before[key], after[key]);
}

function* inArrays(path: Path, before: Items, after: Items): Generator<ValueChange, void> {
  const name = identifyingMember(before, after);
  if (name) yield* inObjects(path, byName(before, name), byName(after, name));
  else if ([...before, ...after].every((item) => typeof item !== "object" || item === null)) {
    for (const item of before) if (!after.includes(item)) yield { path, before: item };
    for (const item of after) if (!before.includes(item)) yield { path, after: item };
    // Both lists have the same values, but in another order or another number of times.
    if (before.every((item) => after.includes(item)) && after.every((item) => before.includes(item)))
      yield { path, before, after };
  } else
    for (let at = 0; at < Math.max(before.length, after.length); at += 1)
      yield* changesAt([...path, at], before[at], after[at]);
}

type Json = Readonly<Record<string, unknown>>;
type Items = readonly unknown[];

const NAMES = ["uuid", "id", "name"] as const;

/** Returns the member whose values identify all items of both lists. */
function identifyingMember(before: Items, after: Items): string | undefined {
  return NAMES.find((name) =>
    [before, after].every((items) => {
      const names = items.map((item) => (isObject(item) ? item[name] : undefined));
      return names.every((one) => typeof one === "string") && new Set(names).size === items.length;
    }),
  );
}

function byName(items: Items, name: string): Json {
  return Object.fromEntries(items.map((item) => [String((item as Json)[name]), item]));
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function same(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || !a || !b || Array.isArray(a) !== Array.isArray(b))
    return false;
  const [left, right] = [a as Json, b as Json];
  const keys = Object.keys(left);
  return (
    keys.length === Object.keys(right).length &&
    keys.every((key) => key in right && same(left[key], right[key]))
  );
}
