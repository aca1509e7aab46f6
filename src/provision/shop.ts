/** What is done with servers that were found: added, asked for, or only advised on. */
import type { Candidate } from "./candidate.ts";
import type { Installed, Waiting } from "./install.ts";
import type { ShownCandidate } from "./show.ts";

export interface ProvisionCaller extends Waiting {
  /** Puts a question to the person; undefined where the client cannot. */
  readonly ask: ((question: string) => Promise<"yes" | "no" | "none">) | undefined;
}

export interface Added extends Installed {
  readonly from: Candidate["from"];
}

/** What was done instead, and what comes next. */
export interface Noted {
  readonly next: string;
  readonly more?: object;
}

export interface ShopFindings {
  readonly matches: readonly ShownCandidate[];
  /** What the person or the model should know beside it. */
  readonly notices: readonly string[];
  /** Why nothing may be added at all. */
  readonly locked: string | undefined;
}

export interface Shop {
  /** What a candidate's entry is called here already. */
  nameOf(entry: Candidate["entry"]): Promise<string | undefined>;
  /** All that is configured, as text: in it publishers are looked for. */
  configured(): Promise<string>;
  /** Why nothing may be added at the moment. */
  withheld(): string | undefined;
  advise(matches: readonly ShownCandidate[]): string;
  /** Adds one of them where that is allowed. */
  add(found: ShopFindings, asker: ProvisionCaller): Promise<Added | Noted>;
}

/** What is trusted is taken before what fits better, but not for the sake of being trusted. */
const NEARLY_AS_GOOD = 0.7;

/** Those that may be added and lack nothing, best first. */
export function readyOf(matches: readonly ShownCandidate[]): readonly ShownCandidate[] {
  const allowed = allowedOf(matches);
  const floor = (allowed[0]?.fit ?? 0) * NEARLY_AS_GOOD;
  return allowed.filter(({ plan, fit }) => plan.missing.length === 0 && fit >= floor);
}

export function allowedOf(matches: readonly ShownCandidate[]): readonly ShownCandidate[] {
  return matches.filter(({ trust, plan }) => trust !== "denied" && !plan.flaw);
}
