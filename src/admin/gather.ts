/**
 * Gathers what each replica of a gateway knows by itself. A gateway that shares nothing with others asks only
 * itself, and its answers name no replica.
 */
import { FACTS, type Facts } from "./facts.ts";
import type { Missing } from "./replica-schemas.ts";
import type { AdminParts } from "./routes/parts.ts";

export interface Part<T> {
  readonly replica?: string | undefined;
  readonly value: T;
}

export interface Whole<T> {
  /** The part of this replica is the first. */
  readonly parts: readonly [Part<T>, ...Part<T>[]];
  /** For the body of the answer. */
  readonly missing: { readonly missing?: Missing };
}

type Question<N extends keyof Facts> =
  Parameters<Facts[N]> extends [AdminParts, infer Body] ? Body : Readonly<Record<never, never>>;
type Answer<N extends keyof Facts> = Awaited<ReturnType<Facts[N]>>;

/** Never rejects because of another replica. */
export async function gather<N extends keyof Facts>(
  parts: AdminParts,
  name: N,
  body: Question<N>,
  withinMs?: number,
): Promise<Whole<Answer<N>>> {
  const asked = parts.replicas.asks?.askAll<Answer<N>>(name, body, withinMs);
  const mine = own(parts, await answerOf(parts, name, body));
  if (!asked) return { parts: [mine], missing: {} };
  const { answers, silent, unknowing } = await asked;
  const others = answers.toSorted((a, b) => (a.replica < b.replica ? -1 : 1));
  const missing = silent.toSorted().map((replica) => ({
    replica,
    why: unknowing.includes(replica) ? ("unknown" as const) : ("silent" as const),
  }));
  return { parts: [mine, ...others], missing: missing.length === 0 ? {} : { missing } };
}

/** What this replica says. */
export function own<T>({ replicas: { asks, self } }: AdminParts, value: T): Part<T> {
  return asks ? { replica: self, value } : { value };
}

/** The rows of all replicas, each with its replica. */
export function rowsOf<T extends object>({
  parts,
}: Whole<readonly T[]>): readonly (T & { replica?: string })[] {
  return parts.flatMap(({ replica, value }) =>
    value.map((row) => (replica === undefined ? row : { replica, ...row })),
  );
}

/** Answers other replicas. Does nothing in a gateway that shares nothing. */
export function answerOthers(parts: AdminParts): void {
  for (const name of Object.keys(FACTS) as (keyof Facts)[])
    parts.replicas.asks?.answer(name, (body) => answerOf(parts, name, body as Question<typeof name>));
}

async function answerOf<N extends keyof Facts>(
  parts: AdminParts,
  name: N,
  body: Question<N>,
): Promise<Answer<N>> {
  const fact = FACTS[name] as (parts: AdminParts, body: Question<N>) => unknown;
  return (await fact(parts, body)) as Answer<N>;
}
