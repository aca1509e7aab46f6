/** Which candidates fit a task, by the ranking that tools get. Keeps one index per list of candidates; asks nobody. */
import { clip } from "../catalog/read-tool.ts";
import { createSearch } from "../catalog/search/search.ts";
import { settingsWith } from "../catalog/search/settings.ts";
import type { SearchStrategy } from "../catalog/search/strategy.ts";
import type { Tool } from "../catalog/tool.ts";
import { EMPTY_OBJECT } from "../kernel/raw.ts";
import type { Candidate } from "./candidate.ts";

export interface RankedCandidate {
  readonly candidate: Candidate;
  /** 0..1: how far it does what was asked for. */
  readonly fit: number;
}

/** Each candidate is a server of its own under its number, which must not be found as a word. */
const SETTINGS = settingsWith({ weights: { server: 0 } });
const LONGEST_TEXT = 1_000;
const CALLED_BY_ID = 1;
/** As registries have them: `io.github.owner/name`. */
const REGISTRY_NAME = /^[\w-]+(?:\.[\w-]+)+\/[\w.-]+$/;

const indexes = new WeakMap<readonly Candidate[], SearchStrategy>();

/** Who asks by a full name means that one and nothing like it. */
export function isRegistryName(query: string): boolean {
  return REGISTRY_NAME.test(query.trim());
}

/** Best first. The index is made when a list is first searched, and lives as long as the list. */
export async function rankCandidates(
  candidates: readonly Candidate[],
  query: string,
  limit: number,
): Promise<readonly RankedCandidate[]> {
  const named = namedBy(query.trim(), candidates);
  if (named.length > 0 || isRegistryName(query))
    return named.map((candidate) => ({ candidate, fit: CALLED_BY_ID }));
  const hits = await indexOf(candidates).search(query, { limit });
  return hits.flatMap(({ server, confidence, fit = confidence }) => {
    const candidate = candidates[Number(server)];
    return candidate ? [{ candidate, fit }] : [];
  });
}

/** As it is written; only where nobody is called so, in any case. */
function namedBy(wanted: string, candidates: readonly Candidate[]): readonly Candidate[] {
  const lower = wanted.toLowerCase();
  const alike = candidates.filter(({ id }) => id.toLowerCase() === lower);
  const same = alike.filter(({ id }) => id === wanted);
  return same.length > 0 ? same : alike;
}

function indexOf(candidates: readonly Candidate[]): SearchStrategy {
  let index = indexes.get(candidates);
  if (!index) {
    index = createSearch(SETTINGS);
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
    description: clip(description, LONGEST_TEXT) ?? "",
    annotations: {},
    definition: EMPTY_OBJECT,
    inputSchema: EMPTY_OBJECT,
  };
}
