/** Values of the guest as text: for logs, for people, and as JSON. Carried into the sandbox as text: it may refer to nothing outside itself. */

export interface Values {
  readonly inspect: (value: unknown) => string;
  /** What JSON has no word for is written so that nothing is lost in silence. */
  readonly toJson: (value: unknown) => string | undefined;
}

export function values(): Values {
  const { stringify } = JSON;
  const { keys, getPrototypeOf } = Object;
  const { isArray } = Array;
  const text = String;
  const Promised = Promise;
  const MOST_ITEMS = 100;
  const DEEPEST = 5;
  /** Of one value that is shown, all its parts together. */
  const MOST_PARTS = 2_000;
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
      if (shown.length >= MOST_ITEMS) {
        shown.push(`… ${size - MOST_ITEMS} more`);
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
    if (depth >= DEEPEST) return isArray(value) ? "[…]" : "{…}";
    const inner = [...seen, value];
    if (isArray(value)) return `[${inspectList(value, value.length, depth, inner)}]`;
    if (value instanceof Set) return `Set(${value.size}) {${inspectList(value, value.size, depth, inner)}}`;
    if (value instanceof Map) {
      const pairs = [...value].slice(0, MOST_ITEMS);
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
    const shown = all.slice(0, MOST_ITEMS).map((key) => {
      const name = /^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(key) ? key : quoted(key);
      return `${name}: ${inspect((value as Record<string, unknown>)[key], depth + 1, inner)}`;
    });
    if (all.length > MOST_ITEMS) shown.push(`… ${all.length - MOST_ITEMS} more`);
    return `${typeName(value)}{${shown.join(", ")}}`;
  }

  function inspect(value: unknown, depth = 0, seen: object[] = []): string {
    if (depth === 0) parts = 0;
    if (++parts > MOST_PARTS) return "…";
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

  // JSON has no word for these; written like this nothing is lost in silence, in arguments and in values.
  const written: readonly (readonly [object, (this: never) => unknown])[] = [
    [
      BigInt.prototype,
      function (this: bigint) {
        return text(this);
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
  for (const [prototype, value] of written)
    Object.defineProperty(prototype, "toJSON", {
      value,
      writable: true,
      enumerable: false,
      configurable: true,
    });

  /** Where the engine cannot write it because it holds itself. */
  function acyclic(value: unknown): string | undefined {
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
      return stringify(value);
    } catch (error) {
      if (error instanceof TypeError) return acyclic(value);
      throw error;
    }
  }

  return { inspect, toJson };
}
