/** The interface that decides what happens with found servers: add them, request them, or only advise. */
import type { Candidate } from "./candidate.ts";
import type { NewEntry } from "./confined.ts";
import type { InstallCaller, Installed } from "./install.ts";
import type { ShownCandidate } from "./show.ts";

export interface ProvisionCaller extends InstallCaller {
  /** Asks the user a question; undefined if the client cannot. */
  readonly ask: ((question: string) => Promise<"yes" | "no" | "none">) | undefined;
}

export interface Added extends Installed {
  readonly from: Candidate["from"];
}

/** No server was added; `next` says what to do. */
export interface NotAdded {
  readonly next: string;
  readonly more?: object;
}

export interface Findings {
  readonly matches: readonly ShownCandidate[];
  /** Further information for the user or the model. */
  readonly notices: readonly string[];
  /** Why no server may be added. */
  readonly locked: string | undefined;
}

export interface ProvisionPolicy {
  /** The name under which a candidate's entry is already configured. */
  nameOf(entry: Candidate["entry"]): Promise<string | undefined>;
  /** The entry with the sandbox that a new server gets. */
  confined(entry: Candidate["entry"], from: Candidate["from"]): Promise<NewEntry>;
  /** The whole config as text, which is searched for names of publishers. */
  configured(): Promise<string>;
  /** Why no server may be added at the moment. */
  withheld(): string | undefined;
  advise(matches: readonly ShownCandidate[]): string;
  /** Adds one of the matches if that is allowed. */
  add(found: Findings, asker: ProvisionCaller): Promise<Added | NotAdded>;
}

/**
 * A match is considered only if its fit is at least this share of the best one. So a trusted server wins over
 * a better one only if it fits nearly as well.
 */
const MIN_RELATIVE_FIT = 0.7;

/** The matches that may be added and miss no variables, best first. */
export function readyMatches(matches: readonly ShownCandidate[]): readonly ShownCandidate[] {
  const allowed = allowedMatches(matches);
  const floor = (allowed[0]?.fit ?? 0) * MIN_RELATIVE_FIT;
  return allowed.filter(({ plan, fit }) => plan.missing.length === 0 && fit >= floor);
}

export function allowedMatches(matches: readonly ShownCandidate[]): readonly ShownCandidate[] {
  return matches.filter(({ trust, plan }) => trust !== "denied" && !plan.flaw);
}
