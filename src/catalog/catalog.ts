/** Which tools, prompts and resources exist: what the children last said, seen through the rules of the config. Starts no child and decides no ranking. */
import type { ServerId } from "../kernel/call.ts";
import type { Clock } from "../kernel/clock.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import type { Log } from "../kernel/log.ts";
import { RpcError } from "../rpc/rpc-error.ts";
import { type About, sameAbout } from "./about.ts";
import type { ToolCache } from "./cache.ts";
import type { Gate } from "./gate.ts";
import { ITEM_KINDS, ITEM_LISTS, type Item, type ItemKind } from "./item.ts";
import { type Kind, KnownServer } from "./known-server.ts";
import { type Ask, listAll } from "./list-all.ts";
import { listTools } from "./list-tools.ts";
import { clip } from "./read-tool.ts";
import { sameEntries } from "./same.ts";
import type { SearchStrategy, ServerText } from "./search/strategy.ts";
import { type IndexedListing, IndexedSnapshot, type Snapshot } from "./snapshot.ts";
import type { Tool } from "./tool.ts";

export type { About } from "./about.ts";
export type { Listing, Snapshot } from "./snapshot.ts";

export interface CatalogServer {
  /** What the cache entry belongs to: a hash of command, args, url, env names and credential. */
  readonly identity: string;
  readonly permits: (tool: string) => boolean;
}

export interface CatalogChange {
  readonly snapshot: Snapshot;
  readonly servers: readonly ServerId[];
}

/** A child that takes longer than this to list prompts or resources has none until it answers. */
const ITEM_PATIENCE_MS = 3_000;

const NONE_HELD: ReadonlySet<string> = new Set();

export class Catalog {
  readonly search: SearchStrategy;
  readonly #cache: ToolCache;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #gate: Gate | undefined;
  readonly #listeners = new Set<(change: CatalogChange) => void>();
  #servers: ReadonlyMap<ServerId, KnownServer> = new Map();
  #snapshot = new IndexedSnapshot(0, new Map());
  #loading: Promise<void> = Promise.resolve();

  constructor(parts: { cache: ToolCache; search: SearchStrategy; clock: Clock; log: Log; gate?: Gate }) {
    this.search = parts.search;
    this.#cache = parts.cache;
    this.#clock = parts.clock;
    this.#log = parts.log;
    this.#gate = parts.gate;
  }

  /** The same object until something changed. */
  get snapshot(): Snapshot {
    return this.#snapshot;
  }

  isLive(server: ServerId): boolean {
    return this.#servers.get(server)?.live ?? false;
  }

  /** Whether it is known what the server has of that kind, be it nothing. */
  knows(server: ServerId, kind: Kind): boolean {
    return this.#snapshot.listings.get(server)?.[kind] !== undefined;
  }

  /** Called after each visible change; returns how to stop that. */
  onChange(listener: (change: CatalogChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Takes over an applied config. Reads no file: what is new is read when someone first needs it. */
  configure(servers: ReadonlyMap<ServerId, CatalogServer>): void {
    const before = this.#servers;
    const after = new Map<ServerId, KnownServer>();
    for (const [server, { identity, permits }] of servers) {
      const known = before.get(server);
      if (known?.identity === identity) after.set(server, Object.assign(known, { permits }));
      else after.set(server, new KnownServer(identity, permits));
    }
    for (const [server, known] of before) if (after.get(server) !== known) this.#gate?.forget(server);
    this.#servers = after;
    this.#publish(new Set([...before.keys(), ...after.keys()]));
  }

  /** Reads the cache of all servers that are not known yet. Resolves when they can be found, or have no cache. */
  loadCached(): Promise<void> {
    const missing = [...this.#servers].filter(([, known]) => !known.list && !known.lookedUp);
    if (missing.length > 0) {
      for (const [, known] of missing) known.lookedUp = true;
      this.#loading = Promise.all([this.#loading, this.#load(missing)]).then(() => {});
    }
    return this.#loading;
  }

  async #load(missing: readonly (readonly [ServerId, KnownServer])[]): Promise<void> {
    await Promise.all(missing.map(([server, known]) => this.#loadOne(server, known)));
    this.#publish(missing.map(([server]) => server));
  }

  async #loadOne(server: ServerId, known: KnownServer): Promise<void> {
    const cached = await this.#cache.read(server, known.identity);
    if (!cached || this.#servers.get(server) !== known) return;
    const { tools, about, ...items } = cached;
    known.items = { ...items, ...known.items };
    await known.inTurn(async () => {
      known.list ??= { tools, about, held: await this.#judge(server, known, tools, false) };
    });
  }

  /** A list that came is shown when it is known what of it may be. */
  async #judge(
    server: ServerId,
    { identity }: KnownServer,
    tools: readonly Tool[],
    live: boolean,
  ): Promise<ReadonlySet<string>> {
    return (await this.#gate?.judge(server, { identity, tools, live })) ?? NONE_HELD;
  }

  /** Of this list, if it is still the one, these are held back from now on. */
  hold(server: ServerId, tools: readonly Tool[], held: ReadonlySet<string>): void {
    const known = this.#servers.get(server);
    if (known?.list?.tools !== tools) return;
    known.list = { ...known.list, held };
    this.#publish([server]);
  }

  /** Takes over a connected child's own list; rejects, and changes nothing, if it cannot be had. */
  async refresh(server: ServerId, ask: Ask, about: About): Promise<void> {
    const known = this.#servers.get(server);
    if (!known) return;
    const turn = known.begin("tools");
    const since = this.#clock.now();
    const tools = await listTools(server, ask, (problem) => this.#log.warn(problem, { server }));
    await known.inTurn(async () => {
      if (this.#servers.get(server) !== known || !known.takes("tools", turn)) return;
      this.#log.debug("tools listed", { server, tools: tools.length, ms: this.#clock.now() - since });
      const again = known.live && sameEntries(known.list?.tools, tools);
      const held = again ? undefined : await this.#judge(server, known, tools, true);
      if (this.#servers.get(server) !== known) return;
      const { list } = known;
      const same = list && sameEntries(list.tools, tools) && sameAbout(list.about, about);
      known.live = true;
      // What was judged stays what it is: an approval is for that very list.
      if (held) known.list = { tools, about, held };
      else if (list) known.list = { ...list, about };
      if (!same) this.#keep(server, known);
      this.#publish([server]);
    });
  }

  /** The same for another list of it; without `ask` it has none. Never rejects: what cannot be listed is not there. */
  async refreshItems(server: ServerId, kind: ItemKind, ask: Ask | undefined): Promise<void> {
    const known = this.#servers.get(server);
    if (!known) return;
    const turn = known.begin(kind);
    // Nobody is to wait for this child again and again.
    const patience = this.#clock.after(ITEM_PATIENCE_MS, () => this.#assumeNone(server, known, kind));
    try {
      const report = (problem: string): void => this.#log.warn(problem, { server });
      const items = ask ? await listAll(server, ITEM_LISTS[kind], ask, report) : [];
      if (this.#servers.get(server) !== known || !known.takes(kind, turn)) return;
      if (sameEntries(known.items[kind], items)) return;
      known.items = { ...known.items, [kind]: items satisfies readonly Item[] };
      this.#keep(server, known);
      this.#publish([server]);
    } catch (error) {
      this.#log.warn(`its ${kind} could not be listed: ${(error as Error).message}`, { server });
      // Of a connection that died nothing is known; whoever answered nonsense has said what there is.
      if (error instanceof RpcError || MetaMcpError.is(error)) this.#assumeNone(server, known, kind);
    } finally {
      patience.cancel();
    }
  }

  #assumeNone(server: ServerId, known: KnownServer, kind: ItemKind): void {
    if (this.#servers.get(server) !== known || known.items[kind]) return;
    known.items = { ...known.items, [kind]: [] };
    this.#publish([server]);
  }

  #keep(server: ServerId, known: KnownServer): void {
    if (known.list) this.#cache.write(server, known.identity, { ...known.list, ...known.items });
  }

  /** Brings the snapshot in line with what is known of these servers, and tells about what can be seen of it. */
  #publish(servers: Iterable<ServerId>): void {
    const changed: ServerId[] = [];
    const listings = new Map(this.#snapshot.listings);
    let touched = false;
    for (const server of servers) {
      const before = listings.get(server);
      const after = this.#servers.get(server)?.listing(before);
      if (after === before) continue;
      touched = true;
      if (after) listings.set(server, after);
      else listings.delete(server);
      const sameText = after?.tools === before?.tools && after?.about === before?.about;
      if (sameText && ITEM_KINDS.every((kind) => after?.[kind] === before?.[kind])) continue;
      changed.push(server);
      if (!sameText) this.#index(server, after);
    }
    if (!touched) return;
    this.#snapshot = new IndexedSnapshot(this.#snapshot.version + (changed.length > 0 ? 1 : 0), listings);
    if (changed.length > 0) this.#tell({ snapshot: this.#snapshot, servers: changed });
  }

  /** The strategy may be a stranger's: its faults cost the search, not the catalog. */
  #index(server: ServerId, listing: IndexedListing | undefined): void {
    try {
      if (listing) this.search.update(server, listing.tools, textOf(listing.about));
      else this.search.remove(server);
    } catch (error) {
      this.#log.error("tools cannot be searched", { server, error });
    }
  }

  #tell(change: CatalogChange): void {
    for (const listener of this.#listeners) {
      try {
        listener(change);
      } catch (error) {
        this.#log.error("a listener to the catalog failed", { error });
      }
    }
  }
}

function textOf({ title, instructions }: About): ServerText {
  const description = clip(instructions);
  return {
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
  };
}
