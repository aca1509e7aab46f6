/**
 * Detects changes by other processes: by notifications, and by a poll every half second, because
 * notifications can be lost. The poll also detects whether the database is reachable; while it is not, the
 * pauses grow.
 */
import type { Clock, Timer } from "../kernel/clock.ts";
import type { Log } from "../kernel/log.ts";
import type { Availability } from "./availability.ts";
import type { Database } from "./database.ts";
import type { DatabaseTime } from "./database-time.ts";
import type { Feed } from "./feed.ts";

const POLL_MS = 500;
const LONGEST_PAUSE_MS = 2_000;

export interface WatchParts {
  /** Not guarded, because it is polled while the store is down too. */
  readonly database: Database;
  readonly feed: Feed;
  readonly time: DatabaseTime;
  readonly availability: Availability;
  readonly clock: Clock;
  readonly log: Log;
}

/** Reports changes immediately while it is connected. Only Postgres has one. */
export interface ChangeListener {
  readonly connected: boolean;
  connect(): Promise<void>;
  close(): void;
}

const NEWEST = `SELECT '' AS kind, coalesce(max(n), 0) AS version FROM metamcp_revisions
  UNION ALL SELECT kind, version FROM metamcp_record_kinds`;
/** No kind of records has this name. */
const TIME = " time";
/** Only Postgres has a clock of its own. */
const NEWEST_AND_TIME = `${NEWEST}
  UNION ALL SELECT '${TIME}', (extract(epoch FROM clock_timestamp()) * 1000)::bigint`;

/**
 * Reports the newest versions to the feed. Calls `answered` before, so that the store counts as up when
 * listeners read it.
 */
export async function poll(
  { database, feed, time }: Pick<WatchParts, "database" | "feed" | "time">,
  answered = (): void => {},
): Promise<void> {
  const sentAt = time.local;
  const { rows } = await database.query(database.dialect === "postgres" ? NEWEST_AND_TIME : NEWEST);
  answered();
  for (const { kind, version } of rows)
    if (kind === "") feed.revision(Number(version));
    else if (kind === TIME) time.heard(Number(version), sentAt);
    else feed.records(String(kind), Number(version));
}

export class Watch {
  readonly #parts: WatchParts;
  readonly #listener: ChangeListener | undefined;
  #timer: Timer | undefined;
  #polling: Promise<void> | undefined;
  #again = false;
  #pause = POLL_MS;
  #closed = false;

  constructor(parts: WatchParts, listener: (onNotification: () => void) => ChangeListener | undefined) {
    this.#parts = parts;
    this.#listener = listener(() => this.poll());
    this.poll();
  }

  /** Polls now, or once more after the running poll. */
  poll(): void {
    if (this.#closed) return;
    if (this.#polling) {
      this.#again = true;
      return;
    }
    this.#timer?.cancel();
    this.#polling = this.#pollOnce().finally(() => {
      this.#polling = undefined;
      if (this.#again) {
        this.#again = false;
        this.poll();
      } else if (!this.#closed) this.#timer = this.#parts.clock.after(this.#pause, () => this.poll());
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#timer?.cancel();
    await this.#polling;
    this.#listener?.close();
  }

  /** Never rejects. */
  async #pollOnce(): Promise<void> {
    const { availability, feed } = this.#parts;
    const isBack = (): void => {
      if (!availability.state.up) feed.reset();
      availability.up();
    };
    try {
      await poll(this.#parts, isBack);
      // Changes before it listened were not notified, so poll again.
      if (await this.#listen()) await poll(this.#parts, isBack);
      this.#pause = POLL_MS;
    } catch (error) {
      // A closing store ends its connections itself.
      if (this.#closed) return;
      availability.down(error instanceof Error ? error.message : String(error));
      this.#pause = Math.min(this.#pause * 2, LONGEST_PAUSE_MS);
    }
  }

  /**
   * Connects the listener if needed. Returns true if it has just connected. If that fails, the poll still
   * finds changes, only later.
   */
  async #listen(): Promise<boolean> {
    if (!this.#listener || this.#listener.connected) return false;
    try {
      await this.#listener.connect();
      return true;
    } catch (error) {
      this.#parts.log.debug("the store cannot listen for changes", { error });
      return false;
    }
  }
}
