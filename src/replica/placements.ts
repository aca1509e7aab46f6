/**
 * Which replica runs a server that may run only once. Whoever needs it first takes it, for a short time, and
 * renews that as long as it runs. Two replicas never have it at once: one that cannot renew ends the server
 * before its time is over, and measures that time from before it asked.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { Place, PlacedLink, PlaceElsewhere, Placement } from "../child/placed/placement.ts";
import type { Clock, Timer } from "../kernel/clock.ts";
import type { Log } from "../kernel/log.ts";
import { Sequencer } from "../kernel/sequencer.ts";
import { type Signal, unlessAborted } from "../kernel/signal.ts";
import { StoreError } from "../store/error.ts";
import type { PlacementRow, Placements as Table } from "../store/placements.ts";
import { AskError } from "./ask.ts";
import { Held } from "./held-placement.ts";
import { FROM, TO } from "./hop-protocol.ts";
import type { Members } from "./members.ts";
import { LEASE_MS, RENEW_MS } from "./placement-times.ts";
import type { Sharing } from "./sharing.ts";

/** The path below which the internal listener takes links to servers, by their ids. */
export const PLACED = "/placed/";
/** The question whether a replica runs a server. */
const RUNS = "placement";
/** The request to start a server anew that runs there. Answered when it is connected, or has failed. */
const RESTART = "restart";
const RESTART_MS = 10_000;
const LOOK_AGAIN_MS = 100;

export interface PlacementsParts {
  readonly table: Table;
  readonly members: Pick<Members, "self" | "all" | "of">;
  /** Undefined if this replica shares nothing with the others. */
  readonly sharing: Pick<Sharing, "asks" | "newAgent"> | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

interface Through {
  readonly replica: string;
  readonly link: PlacedLink;
}

export class Placements implements Placement {
  readonly #parts: PlacementsParts;
  readonly #held = new Map<string, Held>();
  /** Resolve when nothing is left of a server that ran here. */
  readonly #ending = new Map<string, Promise<void>>();
  /** Links through other replicas, by server. */
  readonly #through = new Map<string, Set<Through>>();
  /** Where each server was seen last. */
  #known: ReadonlyMap<string, string> = new Map();
  /** One statement at a time: a release must not meet a take. */
  readonly #statements = new Sequencer();
  #timer: Timer | undefined;
  #leaving: Promise<void> | undefined;
  #closed = false;

  constructor(parts: PlacementsParts) {
    this.#parts = parts;
    parts.sharing?.asks.answer(RUNS, async (server) => await this.#isHere(String(server)));
  }

  /** The replica that runs the server, as far as it is known. */
  holderOf(server: string): string | undefined {
    return this.#held.has(server) ? this.#parts.members.self : this.#known.get(server);
  }

  /** Whether the server runs here and stays. */
  runs(server: string): boolean {
    const held = this.#held.get(server);
    return held?.valid === true && !held.moving;
  }

  async find(server: string, signal: Signal): Promise<Place> {
    const { self } = this.#parts.members;
    let unreachable: PlacementRow | undefined;
    for (;;) {
      await unlessAborted(this.#ending.get(server) ?? Promise.resolve(), signal);
      const held = this.#held.get(server);
      if (held?.valid && !held.moving) return held.place;
      const row = await unlessAborted(this.#take(server), signal);
      if (row === undefined)
        return nowhere("the store cannot be reached, so it is not known which replica runs it");
      if (row.holder === self) continue;
      const found = await unlessAborted(this.#reach(row), signal);
      if (typeof found === "object") return found;
      // A replica that renews lives: what keeps us from it does not end by waiting.
      if (found === "unreachable") {
        if (unreachable?.holder === row.holder && row.until > unreachable.until)
          return nowhere(`it runs at replica ${row.holder}, which cannot be reached from replica ${self}`);
        unreachable = unreachable?.holder === row.holder ? unreachable : row;
      }
      await pause(LOOK_AGAIN_MS);
    }
  }

  /** Starts a server anew that another replica runs. Returns false if none does, or none answers. */
  async restart(server: string): Promise<boolean> {
    const { table, members, sharing } = this.#parts;
    if (!sharing || this.runs(server)) return false;
    try {
      const rows = await table.renew([], members.self, LEASE_MS);
      const holder = rows.find((row) => row.server === server)?.holder;
      return holder !== undefined && (await sharing.asks.ask<boolean>(holder, RESTART, server, RESTART_MS));
    } catch (error) {
      if (StoreError.is(error) || error instanceof AskError) return false;
      throw error;
    }
  }

  /** Called when another replica wants a server anew that runs here. */
  onRestart(restart: (server: string) => Promise<unknown>): void {
    this.#parts.sharing?.asks.answer(RESTART, async (server) => {
      if (!this.runs(String(server))) return false;
      await restart(String(server));
      return true;
    });
  }

  /** Gives all servers to other replicas, each when its running calls have ended. */
  leave(): Promise<void> {
    this.#leaving ??= this.#moveAll();
    return this.#leaving;
  }

  async #moveAll(): Promise<void> {
    if (this.#other() !== undefined)
      await Promise.all([...this.#held].map(([server, held]) => this.#move(server, held)));
  }

  /** Another replica is gone. */
  gone(replica: string): void {
    for (const links of this.#through.values())
      for (const through of links)
        if (through.replica === replica) void through.link.lost(`replica ${replica}, which ran it, is gone`);
  }

  /** Call it when no server runs here any more. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#timer?.cancel();
    const { table, members } = this.#parts;
    for (const [server, held] of this.#held) {
      held.end();
      await this.#statements.run(() => table.release(server, members.self)).catch(() => {});
    }
    this.#held.clear();
  }

  /** Takes the server for this replica or, if this one leaves, for another. Undefined without the store. */
  async #take(server: string): Promise<PlacementRow | undefined> {
    const { table, members, clock } = this.#parts;
    const taker = (this.#leaving ? this.#other() : undefined) ?? members.self;
    try {
      return await this.#statements.run(async () => {
        const sentAt = clock.now();
        const row = await table.take(server, taker, LEASE_MS);
        if (row.holder === members.self) this.#hold(server, sentAt);
        return row;
      });
    } catch (error) {
      if (StoreError.is(error)) return undefined;
      throw error;
    }
  }

  #hold(server: string, sentAt: number): void {
    const known = this.#held.get(server);
    if (known) return known.renewed(sentAt);
    const held: Held = new Held(sentAt, {
      clock: this.#parts.clock,
      onOver: () => this.#lose(server, held, "this replica could not renew its right to run it"),
    });
    this.#held.set(server, held);
    this.#schedule();
  }

  /** Its processes end before another replica may start them. */
  #lose(server: string, held: Held, reason: string): void {
    if (this.#held.get(server) !== held) return;
    this.#held.delete(server);
    held.end();
    const { log, table, members } = this.#parts;
    log.warn("a server that may run only once ends here", { server, reason });
    // Others need not wait for the rest of the time.
    const release = () => this.#statements.run(() => table.release(server, members.self));
    void this.#ends(server, held.lost(reason).then(release));
  }

  /** Whoever needs the server waits for this. */
  async #ends(server: string, end: Promise<unknown>): Promise<void> {
    const before = this.#ending.get(server);
    const ended = Promise.allSettled([before, end]).then(() => {
      if (this.#ending.get(server) === ended) this.#ending.delete(server);
    });
    this.#ending.set(server, ended);
    await ended;
  }

  async #move(server: string, held: Held): Promise<void> {
    const { table, members } = this.#parts;
    const give = async (): Promise<void> => {
      const to = this.#other();
      if (this.#held.get(server) !== held) return;
      this.#held.delete(server);
      held.end();
      await this.#statements.run(() =>
        to === undefined
          ? table.release(server, members.self)
          : table.give(server, members.self, to, LEASE_MS),
      );
    };
    await this.#ends(server, held.moved().then(give));
  }

  /** Another replica that can take servers. */
  #other(): string | undefined {
    const { all, self } = this.#parts.members;
    return all.find(({ id, state, address }) => id !== self && state === "serving" && address !== undefined)
      ?.id;
  }

  async #reach({ server, holder }: PlacementRow): Promise<Place | "unreachable" | "not there"> {
    const { members, sharing } = this.#parts;
    const replica = members.of(holder);
    if (!sharing || (replica && replica.address === undefined))
      return nowhere("it runs at another gateway on this store: start each with --replica-address");
    if (replica?.address === undefined) return "unreachable";
    try {
      const there = await sharing.asks.ask<boolean>(holder, RUNS, server);
      if (!there) return "not there";
      const url = `http://${replica.address}${PLACED}${encodeURIComponent(server)}`;
      return this.#elsewhere(server, holder, { url, agent: sharing.newAgent() });
    } catch (error) {
      if (!(error instanceof AskError)) throw error;
      return "unreachable";
    }
  }

  #elsewhere(server: string, replica: string, at: Pick<PlaceElsewhere, "url" | "agent">): Place {
    return {
      at: "replica",
      replica,
      ...at,
      headers: { [FROM]: this.#parts.members.self, [TO]: replica },
      join: (link) => {
        const links = this.#through.get(server) ?? new Set();
        const through = { replica, link };
        this.#through.set(server, links.add(through));
        this.#schedule();
        return () => {
          links.delete(through);
          if (links.size === 0) this.#through.delete(server);
        };
      },
    };
  }

  /** Another replica asks whether the server is here. It may have been given to this one just now. */
  async #isHere(server: string): Promise<boolean> {
    if (this.runs(server)) return true;
    if (this.#leaving || this.#ending.has(server)) return false;
    const row = await this.#take(server);
    return row?.holder === this.#parts.members.self;
  }

  #schedule(): void {
    if (this.#closed) return;
    this.#timer ??= this.#parts.clock.after(RENEW_MS, () => {
      void this.#renew().finally(() => {
        this.#timer = undefined;
        if (this.#held.size > 0 || this.#through.size > 0) this.#schedule();
      });
    });
  }

  async #renew(): Promise<void> {
    const { table, members, clock } = this.#parts;
    try {
      await this.#statements.run(async () => {
        for (const [server, held] of this.#held) if (held.isUnused()) await this.#release(server, held);
        const held = [...this.#held].filter(([, { over }]) => !over);
        const sentAt = clock.now();
        const rows = await table.renew(
          held.map(([server]) => server),
          members.self,
          LEASE_MS,
        );
        this.#known = new Map(rows.map(({ server, holder }) => [server, holder]));
        const renewed = new Set(rows.filter((row) => row.renewed).map(({ server }) => server));
        for (const [server, one] of held)
          if (renewed.has(server)) one.renewed(sentAt);
          else this.#lose(server, one, "another replica may have it by now");
        this.#follow();
      });
    } catch (error) {
      if (!StoreError.is(error)) this.#parts.log.error("a renewal of placements failed", { error });
    }
  }

  /** Links to servers that have moved take no new requests. */
  #follow(): void {
    for (const [server, links] of this.#through)
      for (const { replica, link } of links) if (this.#known.get(server) !== replica) link.moved();
  }

  async #release(server: string, held: Held): Promise<void> {
    this.#held.delete(server);
    held.end();
    await this.#parts.table.release(server, this.#parts.members.self);
  }
}

function nowhere(reason: string): Place {
  return { at: "nowhere", reason };
}
