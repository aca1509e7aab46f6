/**
 * Ranks candidates for a task with the search for tools. Keeps one index per list of candidates; sends no
 * requests.
 */
import { clip } from "../catalog/read-tool.ts";
import { EVIDENCE_KINDS, type EvidenceKind } from "../catalog/search/evidence.ts";
import { createSearch } from "../catalog/search/search.ts";
import { settingsWith } from "../catalog/search/settings.ts";
import type { SearchStrategy } from "../catalog/search/strategy.ts";
import type { Tool } from "../catalog/tool.ts";
import { EMPTY_OBJECT } from "../kernel/raw.ts";
import type { Candidate } from "./candidate.ts";

export interface RankedCandidate {
  readonly candidate: Candidate;
  /** 0..1: how well it fits the task. */
  readonly fit: number;
}

/**
 * Each candidate is indexed as a server named by its number, so server names get weight 0. A server is not
 * named after one action, so it need not have the name that an example wants.
 */
const SETTINGS = settingsWith({ weights: { server: 0 }, missingName: 0 });
/** Measured on the golden questions; see docs/provisioning.md. */
export const MIN_FIT = 0.5;
/**
 * What each kind of evidence counts. The network that ranks tools does not fit: a server does not do one kind
 * of action. Each candidate is the only tool of its server, so `siblings` and `serverVector` are its own
 * scores.
 */
const WEIGHTS: Readonly<Record<EvidenceKind, number>> = {
  keyword: 1,
  clauseKeyword: 0.35,
  vector: 0.5,
  clauseVector: 0.8,
  siblings: 1,
  serverVector: 0.5,
  pair: 0.5,
  action: 0,
  nameCoverage: 0.6,
  coverage: 0.6,
  exampleName: 3,
  exampleWords: 1,
};
const SCORER = {
  score: (inputs: Float64Array) =>
    EVIDENCE_KINDS.reduce((sum, kind, i) => sum + WEIGHTS[kind] * (inputs[i] as number), 0),
};
const MAX_TEXT_LENGTH = 1_000;
const FIT_BY_ID = 1;
/** `io.github.owner/name`. */
const REGISTRY_NAME = /^[\w-]+(?:\.[\w-]+)+\/[\w.-]+$/;

const indexes = new WeakMap<readonly Candidate[], SearchStrategy>();

/** Whether the query is a full registry name, which finds only that server. */
export function isRegistryName(query: string): boolean {
  return REGISTRY_NAME.test(query.trim());
}

/**
 * Best first: those that fit by their fit, which is what people see, then the others by the score of the
 * search. The index is built when a list is first searched and lives as long as the list.
 */
export async function rankCandidates(
  candidates: readonly Candidate[],
  query: string,
  limit: number,
): Promise<readonly RankedCandidate[]> {
  const named = namedBy(query.trim(), candidates);
  if (named.length > 0 || isRegistryName(query))
    return named.map((candidate) => ({ candidate, fit: FIT_BY_ID }));
  const hits = await indexOf(candidates).search(query, { limit });
  const ranked = hits.flatMap(({ server, confidence, fit = confidence }) => {
    const candidate = candidates[Number(server)];
    return candidate ? [{ candidate, fit }] : [];
  });
  const order = ({ fit }: RankedCandidate): number => (fit >= MIN_FIT ? fit : 0);
  return ranked.toSorted((a, b) => order(b) - order(a));
}

/** Candidates with exactly this id; if there are none, those that differ only in case. */
function namedBy(wanted: string, candidates: readonly Candidate[]): readonly Candidate[] {
  const lower = wanted.toLowerCase();
  const ignoringCase = candidates.filter(({ id }) => id.toLowerCase() === lower);
  const exact = ignoringCase.filter(({ id }) => id === wanted);
  return exact.length > 0 ? exact : ignoringCase;
}

function indexOf(candidates: readonly Candidate[]): SearchStrategy {
  let index = indexes.get(candidates);
  if (!index) {
    index = createSearch(SETTINGS, { loadScorer: async () => SCORER });
    for (const [at, candidate] of candidates.entries()) index.update(String(at), [asTool(candidate, at)]);
    indexes.set(candidates, index);
  }
  return index;
}

function asTool({ name, title, id, description }: Candidate, at: number): Tool {
  return {
    server: String(at),
    name,
    title: title ?? id.slice(id.lastIndexOf("/") + 1),
    description: clip(description, MAX_TEXT_LENGTH) ?? "",
    annotations: {},
    definition: EMPTY_OBJECT,
    inputSchema: EMPTY_OBJECT,
  };
}
