/**
 * Decides whether a server of the gallery fits a task clearly better than the configured servers. Uses no
 * network.
 */
import type { Candidate } from "./candidate.ts";
import { rankCandidates } from "./rank.ts";

export interface BetterCandidateParts {
  readonly candidates: readonly Candidate[];
  /** The names of the usable configured servers. */
  readonly servers: readonly string[];
  /** The whole config as text. */
  readonly configured: () => Promise<string>;
}

/** Measured on the golden questions; see docs/provisioning.md. */
const CLEARLY_BETTER = 0.15;
const MAX_CANDIDATES = 5;

/**
 * `fit` is the fit of the best configured tool. Returns false if one of the better servers is already
 * configured.
 */
export async function hasBetterCandidate(
  fit: number,
  queries: readonly string[],
  parts: BetterCandidateParts,
): Promise<boolean> {
  const { candidates, servers, configured } = parts;
  const ranked = await Promise.all(
    queries.map(async (query) => await rankCandidates(candidates, query, MAX_CANDIDATES)),
  );
  const better = ranked.flat().filter((candidate) => candidate.fit >= fit + CLEARLY_BETTER);
  if (better.length === 0) return false;
  const config = await configured();
  const isConfigured = ({ candidate: { name, publishers } }: (typeof better)[number]): boolean =>
    servers.includes(name) || publishers.some((publisher) => publisher !== "" && config.includes(publisher));
  return !better.some(isConfigured);
}
