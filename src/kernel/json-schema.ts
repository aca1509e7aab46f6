/**
 * JSON Schemas (2020-12) as values, and the types of what matches them. Has only the keywords that our own
 * schemas use.
 */

export type Schema = Readonly<Record<string, unknown>>;
export type Properties = Readonly<Record<string, Schema>>;
/** No properties. */
export type None = Readonly<Record<never, never>>;

export const TEXT = { type: "string" } as const;
export const UUID = { type: "string", format: "uuid" } as const;
export const DATE = { type: "string", format: "date-time" } as const;
export const BOOLEAN = { type: "boolean" } as const;
export const COUNT = { type: "integer", minimum: 0 } as const;
export const MS = { type: "number", minimum: 0 } as const;
/** Any object, e.g. one that a server or a client wrote. */
export const ANY_OBJECT = { type: "object" } as const;

/** An alias, because an interface would not match `Schema`. */
export type ObjectSchema<P, R extends keyof P> = {
  readonly type: "object";
  readonly properties: P;
  readonly required: readonly R[];
  readonly additionalProperties: false;
};

/** An object with these members and no others. */
export function object<const R extends Properties, const O extends Properties = None>(
  required: R,
  optional?: O,
): ObjectSchema<R & O, keyof R> {
  return {
    type: "object",
    properties: { ...required, ...(optional as O) },
    required: Object.keys(required),
    additionalProperties: false,
  };
}

/** The same object with more members. */
export function extended<
  const P extends Properties,
  const K extends keyof P,
  const R extends Properties,
  const O extends Properties = None,
>(schema: ObjectSchema<P, K>, required: R, optional?: O): ObjectSchema<P & R & O, K | keyof R> {
  return {
    type: "object",
    properties: { ...schema.properties, ...required, ...(optional as O) },
    required: [...schema.required, ...Object.keys(required)],
    additionalProperties: false,
  };
}

export function list<const I extends Schema>(items: I) {
  return { type: "array", items } as const;
}

export const TEXTS = list(TEXT);

/** As in a merge patch (RFC 7396), null removes a field. */
export function nullable<const S extends Schema>(schema: S) {
  return { anyOf: [schema, { type: "null" }] } as const;
}

const names = new WeakMap<Schema, string>();

/**
 * Names a schema. A description refers to it by this name. A copy of it, e.g. with another description, has
 * no name.
 */
export function named<const S extends Schema>(name: string, schema: S): S {
  names.set(schema, name);
  return schema;
}

export function nameOf(schema: Schema): string | undefined {
  return names.get(schema);
}

/** The type of a value after defaults were filled in: a field with a default is always present. */
export type Static<S> = Matching<S, true>;

/** The type of a value before defaults are filled in, as a client sends it. */
export type Sent<S> = Matching<S, false>;

type Matching<S, Filled> = S extends { readonly const: infer C }
  ? C
  : S extends { readonly enum: readonly (infer E)[] }
    ? E
    : S extends { readonly type: "array"; readonly items: infer I }
      ? readonly Matching<I, Filled>[]
      : S extends { readonly type: "object" }
        ? MatchingObject<S, Filled>
        : S extends { readonly anyOf: readonly (infer A)[] }
          ? Matching<A, Filled>
          : MatchingScalar<S>;

type MatchingScalar<S> = S extends { readonly type: "string" }
  ? string
  : S extends { readonly type: "integer" | "number" }
    ? number
    : S extends { readonly type: "boolean" }
      ? boolean
      : S extends { readonly type: "null" }
        ? null
        : unknown;

type MatchingObject<S, Filled> = S extends { readonly properties: infer P }
  ? Flat<
      {
        readonly [K in keyof P as IsThere<S, P[K], K, Filled> extends true ? K : never]: Matching<
          P[K],
          Filled
        >;
      } & {
        readonly [K in keyof P as IsThere<S, P[K], K, Filled> extends true ? never : K]?: Matching<
          P[K],
          Filled
        >;
      }
    >
  : S extends { readonly additionalProperties: infer A }
    ? Readonly<Record<string, Matching<A, Filled>>>
    : Readonly<Record<string, unknown>>;

type IsThere<S, V, K, Filled> = V extends { readonly default: unknown }
  ? Filled
  : S extends { readonly required: readonly (infer R)[] }
    ? K extends R
      ? true
      : false
    : false;

type Flat<T> = { [K in keyof T]: T[K] };

/**
 * The type of a value that is written as JSON: an optional field may be undefined, because JSON leaves it
 * out.
 */
export type Written<T> = T extends readonly (infer I)[]
  ? readonly Written<I>[]
  : T extends object
    ? Flat<
        { readonly [K in keyof T as object extends Pick<T, K> ? never : K]: Written<T[K]> } & {
          readonly [K in keyof T as object extends Pick<T, K> ? K : never]?: Written<T[K]> | undefined;
        }
      >
    : T;
