/**
 * Finds out what other processes changed: at a notification, and by a poll every half second, as notifications can be
 * lost. The poll also says whether the database is there; while it is not, the pauses grow.
 */
import type { Clock, Timer } from "../kernel/clock.ts";
import type { Log } from "../kernel/log.ts";
import type { Availability } from "./availability.ts";
import type { Database } from "./database.ts";
import type { Feed } from "./feed.ts";

const POLL_MS = 500;
const LONGEST_PAUSE_MS = 2_000;

export interface Watched {
  /** Not guarded: it is asked while the store is down, too. */
  readonly database: Database;
  readonly feed: Feed;
  readonly availability: Availability;
  readonly clock: Clock;
  readonly log: Log;
}

/** What tells of changes at once, as long as it lasts. Postgres has one. */
export interface ChangeListener {
  readonly connected: boolean;
  connect(): Promise<void>;
  close(): void;
}

const NEWEST = `SELECT '' AS kind, coalesce(max(n), 0) AS version FROM metamcp_revisions
  UNION ALL SELECT kind, version FROM metamcp_record_kinds`;

/** Tells the feed what is newest; `answered` before that, so that whoever is told can read it. */
export async function poll(
  { database, feed }: Pick<Watched, "database" | "feed">,
  answered = (): void => {},
): Promise<void> {
  const { rows } = await database.query(NEWEST);
  answered();
  for (const { kind, version } of rows)
    if (kind === "") feed.revision(Number(version));
    else feed.records(String(kind), Number(version));
}

export class Watch {
  readonly #watched: Watched;
  readonly #listener: ChangeListener | undefined;
  #timer: Timer | undefined;
  #round: Promise<void> | undefined;
  #again = false;
  #pause = POLL_MS;
  #closed = false;

  constructor(watched: Watched, listener: (heard: () => void) => ChangeListener | undefined) {
    this.#watched = watched;
    this.#listener = listener(() => this.poll());
    this.poll();
  }

  /** Now, or once more after the poll that is under way. */
  poll(): void {
    if (this.#closed) return;
    if (this.#round) {
      this.#again = true;
      return;
    }
    this.#timer?.cancel();
    this.#round = this.#pollOnce().finally(() => {
      this.#round = undefined;
      if (this.#again) {
        this.#again = false;
        this.poll();
      } else if (!this.#closed) this.#timer = this.#watched.clock.after(this.#pause, () => this.poll());
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#timer?.cancel();
    await this.#round;
    this.#listener?.close();
  }

  /** Never rejects. */
  async #pollOnce(): Promise<void> {
    const { availability, feed } = this.#watched;
    const isBack = (): void => {
      if (!availability.state.up) feed.repeat();
      availability.up();
    };
    try {
      await poll(this.#watched, isBack);
      // What changed before it listened is not told.
      if (await this.#listens()) await poll(this.#watched, isBack);
      this.#pause = POLL_MS;
    } catch (error) {
      availability.down(error instanceof Error ? error.message : String(error));
      this.#pause = Math.min(this.#pause * 2, LONGEST_PAUSE_MS);
    }
  }

  /** Whether it has just begun to. Without it changes are still found, only later. */
  async #listens(): Promise<boolean> {
    if (!this.#listener || this.#listener.connected) return false;
    try {
      await this.#listener.connect();
      return true;
    } catch (error) {
      this.#watched.log.debug("the store cannot listen for changes", { error });
      return false;
    }
  }
}
