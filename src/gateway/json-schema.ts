/** Derives the TypeScript type of values that match a JSON Schema. Supports only the keywords of our own schemas. */

export type Schema = Readonly<Record<string, unknown>>;

/** The type after defaults were filled in: a field with a default is always present. */
export type Static<S> = S extends { readonly const: infer C }
  ? C
  : S extends { readonly enum: readonly (infer E)[] }
    ? E
    : S extends { readonly anyOf: readonly (infer A)[] }
      ? Static<A>
      : S extends { readonly type: "array"; readonly items: infer I }
        ? readonly Static<I>[]
        : S extends { readonly type: "object" }
          ? StaticObject<S>
          : StaticScalar<S>;

type StaticScalar<S> = S extends { readonly type: "string" }
  ? string
  : S extends { readonly type: "integer" | "number" }
    ? number
    : S extends { readonly type: "boolean" }
      ? boolean
      : unknown;

type StaticObject<S> = S extends { readonly properties: infer P }
  ? Flat<
      { readonly [K in keyof P as IsThere<S, P, K> extends true ? K : never]: Static<P[K]> } & {
        readonly [K in keyof P as IsThere<S, P, K> extends true ? never : K]?: Static<P[K]>;
      }
    >
  : S extends { readonly additionalProperties: infer A }
    ? Readonly<Record<string, Static<A>>>
    : Readonly<Record<string, unknown>>;

type IsThere<S, P, K extends keyof P> = P[K] extends { readonly default: unknown }
  ? true
  : S extends { readonly required: readonly (infer R)[] }
    ? K extends R
      ? true
      : false
    : false;

type Flat<T> = { [K in keyof T]: T[K] };
