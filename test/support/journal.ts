/**
 * Reads the journal of the fixture server: which processes started, and which messages they got in which
 * order.
 */
import { readFileSync } from "node:fs";
import { type Patience, until } from "./until.ts";

export interface JournalEvent {
  readonly pid: number;
  /** Sequence number within the process. */
  readonly n: number;
  readonly at: number;
  readonly event:
    | "start"
    | "message"
    | "malformed"
    | "count"
    | "cancelled"
    | "roots"
    | "eof"
    | "signal"
    | "grandchild";
  readonly method?: string;
  readonly id?: unknown;
  readonly tool?: string;
  readonly uri?: string;
  readonly level?: string;
  readonly token?: unknown;
  readonly key?: string;
  /** The message arrived before `initialized`, which is a protocol error. */
  readonly early?: true;
  readonly name?: string;
  readonly child?: number;
  readonly argv?: readonly string[];
  readonly cwd?: string;
  readonly mark?: string;
}

export class Journal {
  readonly file: string;

  constructor(file: string) {
    this.file = file;
  }

  events(kind?: JournalEvent["event"]): JournalEvent[] {
    let text: string;
    try {
      text = readFileSync(this.file, "utf8");
    } catch {
      return [];
    }
    // A last line without its newline is still being written.
    const events = text
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line) as JournalEvent);
    return kind === undefined ? events : events.filter((event) => event.event === kind);
  }

  /** The ids of all processes that were started. */
  pids(): number[] {
    return this.events("start").map((event) => event.pid);
  }

  grandchildren(): number[] {
    return this.events("grandchild").flatMap((event) => event.child ?? []);
  }

  /** How often a counting tool was executed with that key. */
  executions(key: string): number {
    return this.events("count").filter((event) => event.key === key).length;
  }

  /** The received methods in order, of one process or of all. */
  methods(pid?: number): string[] {
    return this.events("message")
      .filter((event) => pid === undefined || event.pid === pid)
      .flatMap((event) => event.method ?? []);
  }

  /** Messages before the end of the handshake. Must be empty. */
  early(): JournalEvent[] {
    return this.events("message").filter((event) => event.early);
  }

  async until(seen: (journal: this) => boolean, patience?: Patience): Promise<void> {
    await until(() => seen(this), { what: `an event in ${this.file}`, ...patience });
  }
}
