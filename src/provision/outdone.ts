/** Whether well-known servers do a task so much better than what is there that what is there is hardly meant. Asks no network. */
import type { Candidate } from "./candidate.ts";
import { rankCandidates } from "./rank.ts";

export interface Rivals {
  readonly candidates: readonly Candidate[];
  /** The names of the servers that can be used. */
  readonly servers: readonly string[];
  /** All that is configured, as text. */
  readonly configured: () => Promise<string>;
}

/** Measured on the golden questions; see docs/provisioning.md. */
const CLEARLY_BETTER = 0.15;
const MOST_RIVALS = 5;

/** `fit` is that of the best tool that is there. One who has such a server means what it has. */
export async function isOutdone(fit: number, queries: readonly string[], rivals: Rivals): Promise<boolean> {
  const { candidates, servers, configured } = rivals;
  const ranked = await Promise.all(
    queries.map(async (query) => await rankCandidates(candidates, query, MOST_RIVALS)),
  );
  const better = ranked.flat().filter((rival) => rival.fit >= fit + CLEARLY_BETTER);
  if (better.length === 0) return false;
  const config = await configured();
  const isThere = ({ candidate: { name, publishers } }: (typeof better)[number]): boolean =>
    servers.includes(name) || publishers.some((publisher) => publisher !== "" && config.includes(publisher));
  return !better.some(isThere);
}
