/** The interface to the config that added servers are written to: a file, or a namespace of a gateway. */
import type { EntryContext } from "../config/entry-context.ts";
import type { Candidate, Entry } from "./candidate.ts";
import type { NewEntry } from "./confined.ts";

export interface ConfigWriter {
  /** The name of the config in messages. */
  readonly location: string;
  /** How variables and relative paths in entries are resolved. */
  readonly context: EntryContext;
  /** The entry with the sandbox that a new server gets here. */
  confined(entry: Entry, from: Candidate["from"]): Promise<NewEntry>;
  /** Rejects if writing would fail. */
  check(): Promise<void>;
  /** The name under which the same entry is already in the config. */
  nameOf(entry: Entry): Promise<string | undefined>;
  /** Resolves with the server's name, also if the entry existed already. */
  write(candidate: Candidate, entry: Entry): Promise<string>;
  /** Applies the written entry; resolves once it is effective. */
  apply(entry: Entry): Promise<void>;
}
