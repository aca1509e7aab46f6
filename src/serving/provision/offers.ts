/**
 * Servers of gallery and registry that an administrator can add, with their entry and the variables that they
 * need.
 */
import type { OfferQuery, Offers } from "../../gateway/provisioning-control.ts";
import type { Env } from "../../home/home.ts";
import type { Candidate, Entry } from "../../provision/candidate.ts";
import type { NewEntry } from "../../provision/confined.ts";
import { planOf } from "../../provision/plan.ts";
import type { CandidateSource } from "../../provision/provision.ts";

type Sources = Readonly<Record<"registry" | "gallery", CandidateSource>>;

const MAX_FOUND = 20;

/** Best match first. Without a query: the whole gallery and the first page of the registry. */
export async function offersOf(
  sources: Sources,
  { query, from }: OfferQuery,
  env: Env,
  confine: (entry: Entry, from: Candidate["from"]) => NewEntry,
): Promise<Offers> {
  const [{ rankCandidates }, { matchOf }] = await Promise.all([
    import("../../provision/rank.ts"),
    import("../../provision/show.ts"),
  ]);
  const wanted = query.trim();
  const ask = (source: keyof Sources) =>
    from === undefined || from === source ? sources[source].candidates() : { candidates: [] };
  const [gallery, registry] = await Promise.all([ask("gallery"), ask("registry")]);
  const ranked = async (candidates: readonly Candidate[], first: readonly Candidate[]) =>
    wanted === ""
      ? first.map((candidate) => ({ candidate, fit: 0 }))
      : await rankCandidates(candidates, wanted, MAX_FOUND);
  const found = [
    ...(await ranked(gallery.candidates, gallery.candidates)),
    ...(await ranked(registry.candidates, registry.candidates.slice(0, MAX_FOUND))),
  ];
  const items = found
    .toSorted((a, b) => b.fit - a.fit)
    .map(({ candidate, fit }) => {
      const planned = planOf(candidate, env);
      const plan = { ...planned, ...confine(planned.entry, candidate.from) };
      const { title } = candidate;
      const template = confine(candidate.entry, candidate.from).entry;
      return {
        ...matchOf({ plan, fit, configured: undefined, trust: "unknown" }, env),
        ...(title !== undefined && { title }),
        ...("category" in candidate && { category: candidate.category as string }),
        entry: plan.entry,
        template,
      };
    });
  const { reason } = registry as { readonly reason?: string };
  return { items, ...(reason === undefined ? {} : { notice: reason }) };
}
