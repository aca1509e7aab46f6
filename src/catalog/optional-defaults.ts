/**
 * Makes properties with a `default` optional in an input schema. Schema generators list such a property under
 * `required`, but the server fills it in, so a call without it is not an error. Never makes a schema
 * stricter.
 */
import { isRecord } from "../kernel/is-record.ts";
import { targetOf } from "./schema-pointer.ts";

type Schema = Record<string, unknown>;
type Names = ReadonlySet<string>;

/** Parts that describe the same value as the schema that contains them, and all of which apply. */
const SAME_VALUE = ["allOf", "then", "else", "dependentSchemas", "dependencies"] as const;
/** Of these, another branch may apply. */
const CHOICES = ["anyOf", "oneOf"] as const;
const OTHER_VALUES = [
  "properties",
  "patternProperties",
  "additionalProperties",
  "unevaluatedProperties",
  "items",
  "prefixItems",
  "additionalItems",
  "unevaluatedItems",
] as const;
const NONE: Names = new Set();
const REFERENCE = /"\$\w*[rR]ef":/;
/** Limits the visited parts and names: references can lead to a part again and again. */
const MAX_STEPS = 250_000;

/** Changes `root`, which is parsed JSON. Throws if the schema is too intricate. */
export function withOptionalDefaults(root: Schema): Schema {
  new Walk(root).run();
  return root;
}

class Walk {
  readonly #root: Schema;
  /** The visited parts, each with the names that the parts around it gave it. */
  readonly #visited = new Map<Schema, Set<string>>();
  readonly #relaxed = new Set<string>();
  #steps = 0;

  constructor(root: Schema) {
    this.#root = root;
  }

  run(): void {
    this.#visit(this.#root, NONE);
    if (this.#relaxed.size > 0) for (const schema of this.#visited.keys()) this.#loosen(schema);
  }

  /** `given`: properties of the same value that have a default in a part around this one. */
  #visit(schema: Schema, given: Names): void {
    const before = this.#visited.get(schema);
    if (before && [...given].every((name) => before.has(name))) return;
    this.#count(given.size);
    const around = new Set([...(before ?? []), ...given]);
    this.#visited.set(schema, around);
    const certain = union(around, this.#defaulted(schema, SAME_VALUE, new Set()));
    const all = union(certain, this.#defaulted(schema, CHOICES, new Set()));
    this.#relax(schema, all);
    for (const part of [...this.#parts(schema, SAME_VALUE), ...this.#target(schema)]) this.#visit(part, all);
    for (const part of this.#parts(schema, CHOICES)) this.#visit(part, certain);
    for (const part of this.#parts(schema, OTHER_VALUES)) this.#visit(part, NONE);
    // With an upper limit, more matching elements could be an error.
    if (schema["maxContains"] === undefined)
      for (const part of this.#parts(schema, ["contains"])) this.#visit(part, NONE);
  }

  #relax(schema: Schema, names: Names): void {
    const without = (list: readonly unknown[]): unknown[] =>
      list.filter((name) => {
        const optional = names.has(name as string);
        if (optional) this.#relaxed.add(name as string);
        return !optional;
      });
    if (Array.isArray(schema["required"])) schema["required"] = without(schema["required"]);
    for (const key of ["dependentRequired", "dependencies"]) {
      const lists = schema[key];
      if (!isRecord(lists)) continue;
      const relaxed = Object.entries(lists).map(([name, list]) => [
        name,
        Array.isArray(list) ? without(list) : list,
      ]);
      schema[key] = Object.fromEntries(relaxed);
    }
  }

  /**
   * After relaxing, more branches can match, and conditions can have another result. Such rules are left to
   * the server.
   */
  #loosen(schema: Schema): void {
    const { oneOf, anyOf, allOf } = schema;
    if (oneOf !== undefined && anyOf === undefined) schema["anyOf"] = oneOf;
    else if (oneOf !== undefined)
      schema["allOf"] = [...(Array.isArray(allOf) ? allOf : []), { anyOf: oneOf }];
    delete schema["oneOf"];
    if (this.#mayDiffer(schema["not"])) delete schema["not"];
    if (this.#mayDiffer(schema["if"])) for (const key of ["if", "then", "else"]) delete schema[key];
  }

  #mayDiffer(condition: unknown): boolean {
    if (condition === undefined) return false;
    const text = JSON.stringify(condition);
    return REFERENCE.test(text) || [...this.#relaxed].some((name) => text.includes(JSON.stringify(name)));
  }

  /** The properties with a default that `schema`, its target and its parts under `keys` declare. */
  #defaulted(schema: Schema, keys: readonly string[], seen: Set<Schema>): Names {
    if (seen.has(schema)) return NONE;
    seen.add(schema);
    this.#count();
    const names = new Set<string>();
    const { properties } = schema;
    for (const [name, property] of isRecord(properties) ? Object.entries(properties) : [])
      if (this.#hasDefault(property, new Set())) names.add(name);
    const deeper = seen.size === 1 ? keys : [...SAME_VALUE, ...CHOICES];
    for (const part of [...this.#parts(schema, keys), ...this.#target(schema)])
      for (const name of this.#defaulted(part, deeper, seen)) names.add(name);
    return names;
  }

  #hasDefault(schema: unknown, seen: Set<Schema>): boolean {
    if (!isRecord(schema) || seen.has(schema)) return false;
    seen.add(schema);
    this.#count();
    if (Object.hasOwn(schema, "default")) return true;
    const parts = [...this.#parts(schema, ["allOf", ...CHOICES]), ...this.#target(schema)];
    return parts.some((part) => this.#hasDefault(part, seen));
  }

  /** The subschemas under these keys: single ones, lists and maps. */
  #parts(schema: Schema, keys: readonly string[]): readonly Schema[] {
    return keys
      .flatMap((key): unknown[] => {
        const value = schema[key];
        if (Array.isArray(value)) return value;
        if (!isRecord(value)) return [];
        return /^(properties|patternProperties|depend\w+)$/.test(key) ? Object.values(value) : [value];
      })
      .filter(isRecord);
  }

  #target({ $ref }: Schema): readonly Schema[] {
    const target = typeof $ref === "string" ? targetOf(this.#root, $ref) : undefined;
    return isRecord(target) ? [target] : [];
  }

  #count(names = 0): void {
    this.#steps += 1 + names;
    if (this.#steps > MAX_STEPS) throw new Error("a schema that could take for ever");
  }
}

function union(a: Names, b: Names): Names {
  return b.size === 0 ? a : new Set([...a, ...b]);
}
