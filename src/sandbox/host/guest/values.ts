/**
 * Converts values of the guest to readable text and to JSON. Sent into the sandbox as source text, so it must
 * not refer to anything outside itself.
 */

export interface Values {
  readonly inspect: (value: unknown) => string;
  /**
   * Also writes values that JSON does not support, e.g. maps and functions. A BigInt is written as a number
   * with all digits.
   */
  readonly toJson: (value: unknown) => string | undefined;
  /** `JSON.stringify` for arguments, with BigInts as numbers. */
  readonly stringifyExact: (value: unknown) => string | undefined;
  /** The same as `JSON.parse`, but strings that the host marked as large integers become BigInts. */
  readonly parseMarked: (json: string) => unknown;
  /** An object whose members are created on first access. `known`: the names that it lists. */
  readonly lazyObject: (make: (name: string) => unknown, known: () => readonly string[]) => object;
  /** What a value is, in a few words. */
  readonly shapeOf: (value: unknown) => string;
}

export function values(): Values {
  const { stringify } = JSON;
  const { keys, getPrototypeOf } = Object;
  const { isArray } = Array;
  const text = String;
  const Promised = Promise;
  const MAX_ITEMS = 100;
  const MAX_DEPTH = 5;
  /** Limit of values in one inspected value, at all depths together. */
  const MAX_PARTS = 2_000;
  let parts = 0;
  const LONGEST = 10_000;

  function typeName(value: object): string {
    const name = getPrototypeOf(value)?.constructor?.name;
    return typeof name === "string" && name !== "Object" ? `${name} ` : "";
  }

  function quoted(value: string): string {
    return stringify(value.length > LONGEST ? `${value.slice(0, LONGEST)}…` : value);
  }

  function inspectList(values: Iterable<unknown>, size: number, depth: number, seen: object[]): string {
    const shown: string[] = [];
    for (const value of values) {
      if (shown.length >= MAX_ITEMS) {
        shown.push(`… ${size - MAX_ITEMS} more`);
        break;
      }
      shown.push(inspect(value, depth + 1, seen));
    }
    return shown.join(", ");
  }

  function inspectObject(value: object, depth: number, seen: object[]): string {
    if (value instanceof Error) return `${value.name}: ${value.message}`;
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? "Invalid Date" : value.toISOString();
    if (value instanceof RegExp) return text(value);
    if (value instanceof Promised) return "Promise {}";
    if (seen.includes(value)) return "[Circular]";
    if (depth >= MAX_DEPTH) return isArray(value) ? "[…]" : "{…}";
    const inner = [...seen, value];
    if (isArray(value)) return `[${inspectList(value, value.length, depth, inner)}]`;
    if (value instanceof Set) return `Set(${value.size}) {${inspectList(value, value.size, depth, inner)}}`;
    if (value instanceof Map) {
      const pairs = [...value].slice(0, MAX_ITEMS);
      const shown = pairs.map(
        ([key, one]) => `${inspect(key, depth + 1, inner)} => ${inspect(one, depth + 1, inner)}`,
      );
      return `Map(${value.size}) {${shown.join(", ")}}`;
    }
    if (ArrayBuffer.isView(value) && Symbol.iterator in value) {
      const list = value as unknown as ArrayLike<unknown> & Iterable<unknown>;
      return `${typeName(value)}(${list.length}) [${inspectList(list, list.length, depth, inner)}]`;
    }
    const all = keys(value);
    const shown = all.slice(0, MAX_ITEMS).map((key) => {
      const name = /^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(key) ? key : quoted(key);
      return `${name}: ${inspect((value as Record<string, unknown>)[key], depth + 1, inner)}`;
    });
    if (all.length > MAX_ITEMS) shown.push(`… ${all.length - MAX_ITEMS} more`);
    return `${typeName(value)}{${shown.join(", ")}}`;
  }

  function inspect(value: unknown, depth = 0, seen: object[] = []): string {
    if (depth === 0) parts = 0;
    if (++parts > MAX_PARTS) return "…";
    if (typeof value === "string") return quoted(value);
    if (typeof value === "bigint") return `${value}n`;
    if (typeof value === "function") return `[Function ${value.name || "anonymous"}]`;
    if (typeof value !== "object" || value === null) return text(value);
    try {
      return inspectObject(value, depth, seen);
    } catch (error) {
      return `[unreadable: ${(error as Error)?.message}]`;
    }
  }

  /**
   * A string that stands for a large integer, between `JSON.parse` or `JSON.stringify` and the JSON that
   * others see.
   */
  const MARK = "\0metamcp:integer:";
  const MARKED = /"\\u0000metamcp:integer:(-?\d+)"/g;
  let exact = false;
  let marked = 0;

  function parseMarked(json: string): unknown {
    return JSON.parse(json, (_key, one: unknown) =>
      typeof one === "string" && one.startsWith(MARK) ? BigInt(one.slice(MARK.length)) : one,
    );
  }

  function exactly(write: () => string | undefined): string | undefined {
    exact = true;
    marked = 0;
    try {
      const json = write();
      return marked > 0 ? json?.replaceAll(MARKED, "$1") : json;
    } finally {
      exact = false;
    }
  }

  function shapeOf(value: unknown, depth = 0): string {
    if (value === null || value === undefined) return text(value);
    if (isArray(value))
      return `a list of ${value.length}${value.length > 0 && depth < 2 ? `, the first ${shapeOf(value[0], depth + 1)}` : ""}`;
    if (typeof value !== "object") return `a ${typeof value}`;
    const all = keys(value);
    const shown = all.slice(0, 8).map((key) => {
      const one = (value as Record<string, unknown>)[key];
      return `${key.slice(0, 40)}: ${isArray(one) ? "list" : one === null ? "null" : typeof one}`;
    });
    return `{${shown.join(", ")}${all.length > 8 ? ", …" : ""}}`;
  }

  // JSON does not support these types. With `toJSON` they are not lost silently in arguments and results.
  const toJsonMethods: readonly (readonly [object, (this: never) => unknown])[] = [
    [
      BigInt.prototype,
      function (this: bigint) {
        if (!exact) return text(this);
        marked += 1;
        return MARK + text(this);
      },
    ],
    [
      Set.prototype,
      function (this: Set<unknown>) {
        return [...this];
      },
    ],
    [
      Error.prototype,
      function (this: Error) {
        return { name: this.name, message: this.message };
      },
    ],
    [
      getPrototypeOf(Uint8Array.prototype) as object,
      function (this: Uint8Array) {
        return [...this];
      },
    ],
    [
      Map.prototype,
      function (this: Map<unknown, unknown>) {
        return Object.fromEntries(
          [...this].map(([key, one]) => [typeof key === "string" ? key : inspect(key), one]),
        );
      },
    ],
  ];
  for (const [prototype, value] of toJsonMethods)
    Object.defineProperty(prototype, "toJSON", {
      value,
      writable: true,
      enumerable: false,
      configurable: true,
    });

  /** JSON of a value with circular references, which `JSON.stringify` refuses. */
  function withoutCycles(value: unknown): string | undefined {
    const path: object[] = [];
    return stringify(value, function (this: object, _key, one: unknown) {
      if (typeof one !== "object" || one === null) return one;
      while (path.length > 0 && path.at(-1) !== this) path.pop();
      if (path.includes(one)) return "[Circular]";
      path.push(one);
      return one;
    });
  }

  function toJson(value: unknown): string | undefined {
    if (typeof value === "function" || typeof value === "symbol") return stringify(inspect(value));
    try {
      return exactly(() => stringify(value));
    } catch (error) {
      if (error instanceof TypeError) return exactly(() => withoutCycles(value));
      throw error;
    }
  }

  const stringifyExact = (value: unknown): string | undefined => exactly(() => stringify(value));

  /**
   * An object whose members are created on first access. Symbols, `then` and `toJSON` are undefined, so that
   * it is no promise and can be serialized.
   */
  function lazyObject(make: (name: string) => unknown, known: () => readonly string[]): object {
    const made = new Map<string, unknown>();
    return new Proxy(
      {},
      {
        get(_target, key) {
          if (typeof key !== "string" || key === "then" || key === "toJSON") return undefined;
          if (!made.has(key)) made.set(key, make(key));
          return made.get(key);
        },
        has: (_target, key) => known().includes(key as string),
        ownKeys: () => [...known()],
        getOwnPropertyDescriptor: (_target, key) =>
          known().includes(key as string)
            ? { value: undefined, enumerable: true, configurable: true }
            : undefined,
      },
    );
  }

  return { inspect, toJson, stringifyExact, parseMarked, shapeOf, lazyObject };
}
