/**
 * Joins a gateway to the others on its store. Loads the code for that only on Postgres, and for shared
 * sessions only if they are shared.
 */
import { isDoneWithin } from "../kernel/at-most.ts";
import { ANONYMOUS } from "../kernel/principal.ts";
import type { Peers } from "../kernel/replica-ids.ts";
import type { EventFeed } from "../observe/live/event-feed.ts";
import type { ReplicaControl, ReplicaView } from "../observe/live/replica-view.ts";
import type { Asks } from "../replica/ask.ts";
import type { Members } from "../replica/members.ts";
import type { Placements } from "../replica/placements.ts";
import type { Sharing, SharingParts } from "../replica/sharing.ts";
import type { ReplicaRow } from "../store/replicas.ts";
import { forwardedOf } from "../transport/http/forwarded.ts";
import type { Owners } from "../transport/http/owners.ts";
import type { GatewayContext } from "./gateway-options.ts";
import type { Placed, Serving } from "./placed.ts";

export interface ReplicasParts extends Pick<SharingParts, "addressOf" | "sessions" | "release" | "serve"> {
  /** The number of running processes of local servers. */
  readonly processes: () => number;
  /** The revision that is served. */
  readonly revision: () => number;
  /** Another replica is dead, or has stopped. */
  readonly gone: (replica: string) => void;
}

/** What each replica says about itself with its beat. */
interface About {
  readonly sessions?: number;
  readonly processes?: number;
  readonly forwarded?: number;
  readonly revision?: number;
}

/** The questions for the tasks of an owner, and for the pages that a caller used. */
const TASKS = "tasks";
const PAGES = "pages";
/** Two beats. */
const SILENT_MS = 4_000;

const UNSHARED =
  "another gateway uses this store, and they do not share sessions and limits: start each with --replica-address";

interface JoinedParts {
  readonly members: Members;
  readonly sharing: Sharing | undefined;
  readonly placed: Placed | undefined;
}

export class GatewayReplicas implements ReplicaControl {
  readonly #members: Members;
  readonly #sharing: Sharing | undefined;
  readonly #placed: Placed | undefined;
  readonly #context: Pick<GatewayContext, "log" | "clock">;
  #warned = false;
  #followEvents = (): void => {};

  constructor({ members, sharing, placed }: JoinedParts, context: Pick<GatewayContext, "log" | "clock">) {
    this.#members = members;
    this.#sharing = sharing;
    this.#placed = placed;
    this.#context = context;
  }

  /** Where servers run that may run only once. */
  get placement(): Placements | undefined {
    return this.#placed?.placements;
  }

  /** From now on other replicas reach the servers that run here. */
  async serve(core: Serving): Promise<void> {
    await this.#placed?.serve(core);
  }

  /** The sessions of an endpoint at all replicas; undefined if they are not shared. */
  get owners(): ((endpoint: string) => Owners) | undefined {
    const sharing = this.#sharing;
    return sharing && ((endpoint) => sharing.owners(endpoint));
  }

  /** How many replicas share sessions and limits, this one included. */
  get sharing(): number {
    return this.#members.all.filter(({ address }) => address !== undefined).length;
  }

  get self(): string {
    return this.#members.self;
  }

  /** The others may have called this replica dead. */
  get uncertain(): boolean {
    return this.#members.uncertain;
  }

  /** Resolves when that is known, or cannot be known now. */
  async certain(): Promise<boolean> {
    return await this.#members.certain();
  }

  /** Asks the other replicas; undefined without `--replica-address`. */
  get asks(): Asks | undefined {
    return this.#sharing?.asks;
  }

  get passOn(): ReplicaControl["passOn"] {
    const sharing = this.#sharing;
    if (!sharing) return undefined;
    return async (replica, { request, response, body }) => {
      // One hop: where a request was passed on to, it is answered.
      if (forwardedOf(request)) return "later";
      const received = { request, response, principal: ANONYMOUS };
      const harmless = request.method === "GET";
      return await sharing.pass(replica, { received, id: "", body, harmless, lost: () => undefined });
    };
  }

  clientOf(request: object): string | undefined {
    return forwardedOf(request)?.address;
  }

  /** The others, for what ids name. */
  get peers(): Peers {
    return {
      isGone: (replica) => this.#members.of(replica) === undefined,
      tasksOf: async (owner) => {
        const found = await this.asks?.askAll<readonly string[]>(TASKS, { owner });
        return found?.answers.flatMap(({ value }) => value) ?? [];
      },
      pagesOf: async (caller) => {
        // One that started a moment ago may have answered this caller already.
        await this.#members.refresh();
        const found = await this.asks?.askAll<readonly string[]>(PAGES, { caller });
        if (!found) return [];
        const { answers, silent, unknowing, refusing } = found;
        const isKnown = silent.every((one) => unknowing.includes(one) || refusing.includes(one));
        return isKnown ? answers.flatMap(({ value }) => value) : undefined;
      },
    };
  }

  /** Answers the others which tasks an owner has here. */
  answerTasks(tasksOf: (owner: string) => readonly string[]): void {
    this.asks?.answer(TASKS, (asked) => tasksOf((asked as { owner: string }).owner));
  }

  /** Answers the others which pages a caller used here. */
  answerPages(pagesOf: (caller: string) => readonly string[]): void {
    this.asks?.answer(PAGES, (asked) => pagesOf((asked as { caller: string }).caller));
  }

  /** Shows the live events of all replicas to those who watch this feed. */
  async relayEvents(feed: EventFeed): Promise<void> {
    if (!this.#sharing) return;
    const { relayEvents } = await import("./shared/relayed-events.ts");
    const { asks, routes } = this.#sharing;
    const relay = relayEvents(feed, { asks, routes, members: this.#members, clock: this.#context.clock });
    this.#followEvents = () => relay.follow();
  }

  get unshared(): string | undefined {
    const [all, self] = [this.#members.all, this.#members.self];
    const lone = all.filter(({ address }) => address === undefined);
    const isAlone = lone.length === 0 || (all.length === 1 && all[0]?.id === self);
    return isAlone ? undefined : UNSHARED;
  }

  /** Whether a replica of that id lives, as far as is known. */
  isListed(id: string): boolean {
    return this.#members.of(id) !== undefined;
  }

  /** Reads the list of replicas as it is now. */
  async refresh(): Promise<void> {
    await this.#members.refresh();
  }

  /** The others have changed. */
  changed(): void {
    this.#followEvents();
    const { unshared } = this;
    if (unshared !== undefined && !this.#warned) this.#context.log.warn(unshared);
    this.#warned = unshared !== undefined;
  }

  list(): readonly ReplicaView[] {
    const rows = this.#members.all;
    const newest = Math.max(0, ...rows.map(({ about }) => (about as About).revision ?? 0));
    return rows.map((row) => this.#viewOf(row, newest)).sort((a, b) => (a.since < b.since ? -1 : 1));
  }

  #viewOf(
    { id, address, version, state, sinceMs, silentMs: wasSilentMs, about }: ReplicaRow,
    newest: number,
  ): ReplicaView {
    const { sessions = 0, processes = 0, forwarded = 0, revision = newest } = about as About;
    const { ageMs, self } = this.#members;
    const silentMs = wasSilentMs + ageMs;
    const ago = (ms: number): string => new Date(Date.now() - ms).toISOString();
    return {
      id,
      self: id === self,
      ...(address !== undefined && { address }),
      version,
      state: silentMs >= SILENT_MS ? "silent" : state,
      since: ago(sinceMs + ageMs),
      lastSeen: ago(silentMs),
      sessions,
      processes,
      forwarded,
      lag: newest - revision,
    };
  }

  /** Rejects if this gateway does not fit to the others. */
  async open(): Promise<void> {
    await this.#members.join(await this.#sharing?.listen());
  }

  async drain(): Promise<void> {
    await Promise.all([this.#members.drain(), this.#placed?.placements.leave()]);
  }

  /**
   * Gives the sessions to the other replicas, each when it has no running call. Ends those that still have
   * one after this time.
   */
  async handOver(withinMs: number): Promise<void> {
    const clock = this.#context.clock;
    const servers = this.#placed && isDoneWithin(clock, withinMs, this.#placed.placements.leave());
    await Promise.all([this.#sharing?.handOver(withinMs), servers]);
  }

  async close(): Promise<void> {
    this.#sharing?.stop();
    await this.#placed?.close();
    await this.#members.leave();
    await this.#sharing?.close();
  }
}

/** Undefined on an embedded store, which no other process uses. */
export async function openReplicas(
  context: GatewayContext,
  { processes, revision, gone, ...parts }: ReplicasParts,
): Promise<GatewayReplicas | undefined> {
  const { options, store, clock, log, replica: id } = context;
  const { replicaAddress: address, publicUrl } = options;
  const { replicas } = store;
  if (!replicas || id === undefined) {
    if (address === undefined) return undefined;
    throw new Error("--replica-address needs a Postgres store: set --store postgres://…");
  }
  const { Members } = await import("../replica/members.ts");
  const { VERSION } = await import("../kernel/version.ts");
  let sharing: Sharing | undefined;
  let placed: Placed | undefined;
  const members: Members = new Members({
    self: { id, publicUrl, version: VERSION },
    store,
    replicas,
    clock,
    log,
    about: (): About => ({
      sessions: parts.sessions().length,
      processes: processes(),
      forwarded: sharing?.forwarded ?? 0,
      revision: revision(),
    }),
    check: (others) => (address === undefined ? undefined : checkUrl(publicUrl, others)),
    onRemoved: async () => {
      context.counts?.lost();
      await sharing?.giveUpLost();
    },
    othersReachStore: async () => (await sharing?.othersReachStore()) ?? false,
    onCame: (row) => void sharing?.came(row),
    onGone(row) {
      gone(row.id);
      sharing?.gone(row);
      placed?.gone(row.id);
    },
    onChange: () => {
      context.counts?.confirm();
      joined.changed();
    },
  });
  if (address !== undefined) {
    const { Sharing: Shared } = await import("../replica/sharing.ts");
    const { sealer } = store;
    sharing = new Shared({ ...parts, id, address, members, replicas, sealer, clock, log });
  }
  if (store.placements) {
    const { Placed: Servers } = await import("./placed.ts");
    placed = new Servers({ table: store.placements, members, sharing, clock, log });
  }
  const joined = new GatewayReplicas({ members, sharing, placed }, context);
  return joined;
}

/** Tokens and links name the public URL, so all replicas must have the same. */
function checkUrl(publicUrl: string | undefined, others: readonly ReplicaRow[]): void {
  const other = others.find((row) => row.address !== undefined && row.publicUrl !== publicUrl);
  if (other)
    throw new Error(
      `All replicas need the same --public-url: this one has ${publicUrl ?? "none"}, and replica ${other.id} has ${other.publicUrl ?? "none"}.`,
    );
}
