/** Where servers that were added are written down. */
import type { Surroundings } from "../config/dial.ts";
import type { Candidate, Entry } from "./candidate.ts";

export interface Ledger {
  /** For messages: what it is. */
  readonly place: string;
  /** What variables and relative paths in entries mean there. */
  readonly around: Surroundings;
  /** Rejects where nothing could be written in the end. */
  check(): Promise<void>;
  /** What an entry is called there already, if it is there word for word. */
  nameOf(entry: Entry): Promise<string | undefined>;
  /** Resolves with the name it got, or had. */
  write(candidate: Candidate, entry: Entry): Promise<string>;
  /** Makes what was written count; resolves once it does. */
  take(entry: Entry): Promise<void>;
}
