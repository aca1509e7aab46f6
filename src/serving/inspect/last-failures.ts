/**
 * Why each server failed when it was last tried, in the store, so that a gateway knows it after a restart and
 * from the others. One record for each server that fails: the first failure since it was last reached writes
 * it, another reason changes it, a connection deletes it. It counts only for the entry that failed.
 */
import type { CompiledServer } from "../../gateway/compile.ts";
import { connectionDigest } from "../../gateway/server-entry.ts";
import { isDoneWithin } from "../../kernel/at-most.ts";
import type { Clock, Timer } from "../../kernel/clock.ts";
import type { ConnectionChanged, Events } from "../../kernel/events.ts";
import type { Log } from "../../kernel/log.ts";
import { Sequencer } from "../../kernel/sequencer.ts";
import type { ServerStatus } from "../../kernel/server-status.ts";
import type { Store } from "../../store/store.ts";

/** The kind of record. Its id is the server. */
const FAILURE = "server-failure";
/** What changes in so long is one write. */
const PAUSE_MS = 1_000;
const MOST_IN_WRITE = 100;
const MOST_CHARACTERS = 1_000;
/** A store that hangs must not hold the stop of the gateway. */
const LAST_WRITES_MS = 1_000;

export interface LastFailure {
  /** When it failed first since it was last reached: ISO 8601, by the clock of the database. */
  readonly since: string;
  readonly reason: string;
  /** The gateway that saw the last one, where there may be several. */
  readonly replica?: string;
}

interface StoredFailure extends LastFailure {
  /** Of the entry that failed. */
  readonly entry: string;
}

/** What happened to the connections of a server since it was last judged. */
interface Heard {
  readonly at: number;
  readonly reached: boolean;
  readonly reason: string | undefined;
}

export interface LastFailuresParts {
  readonly store: Pick<Store, "load" | "records" | "now" | "onChange" | "onState">;
  readonly events: Pick<Events, "on">;
  readonly clock: Clock;
  readonly log: Log;
  readonly replica: string | undefined;
  readonly serverOf: (uuid: string) => CompiledServer | undefined;
  /** Of all its connections here. */
  readonly statusOf: (uuid: string) => Pick<ServerStatus, "state" | "connected"> | undefined;
}

export class LastFailures {
  readonly #parts: LastFailuresParts;
  readonly #work = new Sequencer();
  readonly #stops: readonly (() => void)[];
  #stored: ReadonlyMap<string, StoredFailure> = new Map();
  readonly #heardOf = new Map<string, Heard>();
  /** What is not written yet; undefined: the record is deleted. */
  readonly #waiting = new Map<string, StoredFailure | undefined>();
  #timer: Timer | undefined;

  private constructor(parts: LastFailuresParts) {
    this.#parts = parts;
    const { events, store } = parts;
    this.#stops = [
      events.on((event) => {
        if (event.type === "connection") this.#heard(event);
      }),
      store.onChange((change) => {
        if (change.of === "records" && change.kind === FAILURE) void this.#queue(() => this.#read());
      }),
      store.onState(({ up }) => {
        if (up) this.#judgeSoon();
      }),
    ];
  }

  static async open(parts: LastFailuresParts): Promise<LastFailures> {
    const failures = new LastFailures(parts);
    await failures.#work.run(() => failures.#read());
    await failures.#forgetDeleted();
    return failures;
  }

  of({ object: { uuid, spec } }: Pick<CompiledServer, "object">): LastFailure | undefined {
    const known = this.#known(uuid);
    if (!known || known.entry !== connectionDigest(spec)) return undefined;
    const { entry: _, ...failure } = known;
    return failure;
  }

  /** The server was deleted. */
  forget(uuid: string): void {
    if (!this.#known(uuid)) return;
    this.#waiting.set(uuid, undefined);
    this.#judgeSoon();
  }

  /** From now on nothing counts: a gateway that stops takes its servers with it. Writes what waits. */
  async close(): Promise<void> {
    for (const stop of this.#stops) stop();
    this.#timer?.cancel();
    this.#judge();
    await isDoneWithin(
      this.#parts.clock,
      LAST_WRITES_MS,
      this.#queue(() => this.#write()),
    );
  }

  #known(uuid: string): StoredFailure | undefined {
    return this.#waiting.has(uuid) ? this.#waiting.get(uuid) : this.#stored.get(uuid);
  }

  #heard({ server: uuid, state, reason }: ConnectionChanged): void {
    const before = this.#heardOf.get(uuid);
    const isNews = state === "failed" || (state === "connected" && (before || this.#known(uuid)));
    if (!isNews) return;
    const reached = state === "connected" || before?.reached === true;
    this.#heardOf.set(uuid, { at: before?.at ?? this.#parts.store.now(), reached, reason });
    this.#judgeSoon();
  }

  /** Only the state says whether it failed: a process that ended in a call is only started again. */
  #judge(): void {
    for (const [uuid, heard] of this.#heardOf) {
      const state = this.#parts.statusOf(uuid)?.state;
      if (state === "connecting") continue;
      this.#heardOf.delete(uuid);
      if (state === "failed") this.#failed(uuid, heard);
      else if (heard.reached) this.forget(uuid);
    }
  }

  #failed(uuid: string, { at, reason: why = "" }: Heard): void {
    const { serverOf, replica } = this.#parts;
    const server = serverOf(uuid);
    // Where each account has its own credential, a failure is one account's.
    if (!server?.spec || server.spec.perAccount !== undefined) return;
    const before = this.of(server);
    const reason = why.slice(0, MOST_CHARACTERS);
    if (before && (reason === "" || before.reason === reason)) return;
    this.#waiting.set(uuid, {
      since: before?.since ?? new Date(at).toISOString(),
      reason,
      ...(replica !== undefined && { replica }),
      entry: connectionDigest(server.object.spec),
    });
  }

  #judgeSoon(): void {
    if (this.#heardOf.size + this.#waiting.size === 0) return;
    this.#timer ??= this.#parts.clock.after(PAUSE_MS, () => {
      this.#timer = undefined;
      this.#judge();
      // Those that are connecting.
      if (this.#heardOf.size > 0) this.#judgeSoon();
      void this.#queue(() => this.#write());
    });
  }

  async #write(): Promise<void> {
    const { records } = this.#parts.store;
    while (this.#waiting.size > 0) {
      const batch = [...this.#waiting].slice(0, MOST_IN_WRITE);
      await records.write(
        batch.map(([id, value]) =>
          value ? { put: { kind: FAILURE, id, value } } : { delete: { kind: FAILURE, id } },
        ),
      );
      const stored = new Map(this.#stored);
      for (const [uuid, failure] of batch) {
        if (failure) stored.set(uuid, failure);
        else stored.delete(uuid);
        // Something newer may have come meanwhile.
        if (this.#waiting.get(uuid) === failure) this.#waiting.delete(uuid);
      }
      this.#stored = stored;
    }
  }

  /** A gateway that was killed, or does not know these records, has deleted only the server. */
  async #forgetDeleted(): Promise<void> {
    const { serverOf, store } = this.#parts;
    const unknown = [...this.#stored.keys()].filter((uuid) => !serverOf(uuid));
    if (unknown.length === 0) return;
    // Read after the records, because a server may be newer than what this gateway has loaded.
    const { objects } = await store.load();
    for (const uuid of unknown) if (!objects.some((object) => object.uuid === uuid)) this.forget(uuid);
  }

  async #read(): Promise<void> {
    const records = await this.#parts.store.records.list(FAILURE);
    this.#stored = new Map(records.map(({ id, value }) => [id, value as StoredFailure]));
    // What fails at another gateway and works here has not failed.
    for (const uuid of this.#stored.keys()) {
      const { state, connected } = this.#parts.statusOf(uuid) ?? {};
      if (connected && state !== "failed") this.forget(uuid);
    }
  }

  /** What cannot be done without the store is done when it is back. */
  async #queue(work: () => Promise<void>): Promise<void> {
    try {
      await this.#work.run(work);
    } catch (error) {
      this.#parts.log.debug("the last failures of servers are not in step with the store", { error });
    }
  }
}
