/** The types of bodies and answers of the admin API, for its clients: the console and `metamcp gateway`. */
import type { Sent, Static } from "../kernel/json-schema.ts";
import type { AdminRoute } from "./routes/all.ts";

type Of<S, Value> = [NonNullable<S>] extends [never] ? undefined : Value;
type AnswerOf<R extends AdminRoute> = Of<R["answer"], Static<NonNullable<R["answer"]>>>;
type BodyOf<R extends AdminRoute> = Of<R["body"], Sent<NonNullable<R["body"]>>>;

/** The answers of GET routes. Parameters with a colon go into the path, all others into the query. */
export type Reads = {
  [R in Extract<AdminRoute, { readonly method: "GET" }> as R["path"]]: AnswerOf<R>;
};

export type Writes = {
  [R in Exclude<AdminRoute, { readonly method: "GET" }> as `${R["method"]} ${R["path"]}`]: {
    readonly body: BodyOf<R>;
    readonly answer: AnswerOf<R>;
  };
};

export interface Page<T> {
  readonly items: readonly T[];
  readonly nextCursor?: string;
}

export type ReadPath = keyof Reads;
/** Routes that answer with pages. */
export type ListPath = { [P in ReadPath]: Reads[P] extends Page<unknown> ? P : never }[ReadPath];
export type ItemOf<P extends ListPath> = Reads[P] extends Page<infer T> ? T : never;
export type WriteRoute = keyof Writes;
