/**
 * Which tools, prompts and resources exist: what the children last said over each connection key, seen through the rules
 * of the config. Itself it shows the best that is known of each server; a view shows what a client's own key lists.
 * Starts no child and decides no ranking.
 */
import type { ServerId } from "../kernel/call.ts";
import type { Clock } from "../kernel/clock.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import { type ListKey, type ListSource, listKeyOf } from "../kernel/list-key.ts";
import type { Log } from "../kernel/log.ts";
import { accountOf } from "../kernel/principal.ts";
import { RpcError } from "../rpc/rpc-error.ts";
import { type About, sameAbout } from "./about.ts";
import type { ToolCache } from "./cache.ts";
import type { CatalogView } from "./catalog-view.ts";
import type { Gate } from "./gate.ts";
import { ITEM_LISTS, type Item, type ItemKind } from "./item.ts";
import type { KnownList, ListedKind } from "./known-list.ts";
import { ANY_KEY, type KnownServer } from "./known-server.ts";
import type { CatalogServer, KnownServers, Place } from "./known-servers.ts";
import { type Ask, listAll } from "./list-all.ts";
import { listTools } from "./list-tools.ts";
import { sameEntries } from "./same.ts";
import type { SearchStrategy } from "./search/strategy.ts";
import { type CatalogChange, type Looking, ShownCatalog } from "./shown.ts";
import type { Snapshot } from "./snapshot.ts";
import type { Tool } from "./tool.ts";

export type { About } from "./about.ts";
export type { CatalogServer } from "./known-servers.ts";
export type { CatalogChange } from "./shown.ts";
export type { Listing, Snapshot } from "./snapshot.ts";

/** A child that takes longer than this to list prompts or resources has none until it answers. */
const ITEM_PATIENCE_MS = 3_000;

const NONE_HELD: ReadonlySet<string> = new Set();

/** One list of one server, while both are what they were. */
interface At {
  readonly from: ListSource;
  readonly known: KnownServer;
  readonly list: KnownList;
}

export class Catalog implements CatalogView {
  readonly search: SearchStrategy;
  readonly #cache: ToolCache;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #gate: Gate | undefined;
  readonly #shown: ShownCatalog;
  #loading: Promise<void> = Promise.resolve();

  constructor(parts: { cache: ToolCache; search: SearchStrategy; clock: Clock; log: Log; gate?: Gate }) {
    this.search = parts.search;
    this.#cache = parts.cache;
    this.#clock = parts.clock;
    this.#log = parts.log;
    this.#gate = parts.gate;
    this.#shown = new ShownCatalog({ ...parts, loadCached: () => this.loadCached() });
  }

  get snapshot(): Snapshot {
    return this.#shown.snapshot;
  }

  /** What this client sees. Every call comes by. */
  view(asker: Looking): CatalogView {
    return this.#shown.view(asker);
  }

  get #servers(): KnownServers {
    return this.#shown.servers;
  }

  /** Whose lists of this server it is that an account sees: its own, or ("") those of all. */
  whose(server: ServerId, account: string | undefined): string {
    return this.#servers.whose(server, account);
  }

  /** Over which key the lists of this server come that somebody sees; undefined where they are not let in. */
  keyFor(server: ServerId, asker: Looking): ListKey | undefined {
    const account = asker.principal && accountOf(asker.principal);
    return this.#servers.keyFor(server, { key: listKeyOf(asker), account });
  }

  /** What accounts are let in with may be something else. */
  credentialsChanged(): void {
    this.#shown.touch();
  }

  isLive(server: ServerId): boolean {
    return this.#servers.get(server)?.live ?? false;
  }

  isOwn(server: ServerId): boolean {
    return this.knows(server, "tools");
  }

  knows(server: ServerId, kind: ListedKind): boolean {
    return this.snapshot.listings.get(server)?.[kind] !== undefined;
  }

  /** Whether there is such a tool, whoever sees it. */
  hasTool(server: ServerId, tool: string): boolean {
    return this.snapshot.tool(server, tool) !== undefined || this.#servers.anyoneLists(server, tool);
  }

  fault(server: ServerId): string | undefined {
    return this.#servers.get(server)?.fault;
  }

  onChange(listener: (change: CatalogChange) => void): () => void {
    return this.#shown.onChange(listener);
  }

  /** Takes over an applied config. Reads no file: what is new is read when someone first needs it. */
  configure(servers: ReadonlyMap<ServerId, CatalogServer>): void {
    const { gone, seen } = this.#servers.configure(servers);
    for (const server of gone) this.#gate?.forget(server);
    this.#shown.replace(seen);
  }

  /** Reads the cache of all servers that it was not read of yet. Resolves when they can be found, or have no cache. */
  loadCached(): Promise<void> {
    const missing = this.#servers.shared.filter(({ known }) => !known.lookedUp);
    if (missing.length > 0) {
      for (const { known } of missing) known.lookedUp = true;
      this.#loading = Promise.all([this.#loading, this.#load(missing)]).then(() => {});
    }
    return this.#loading;
  }

  async #load(missing: readonly Place[]): Promise<void> {
    await Promise.all(missing.map((place) => this.#loadOne(place)));
    this.#shown.update(missing);
  }

  async #loadOne({ server, known }: Place): Promise<void> {
    const cached = await this.#cache.read(server, known.identity);
    if (this.#servers.get(server) !== known) return;
    await Promise.all(
      cached.map(async ({ key = ANY_KEY, tools, about, ...items }) => {
        // Beside what a key has said itself, what nobody knows the key of says nothing.
        if (key === ANY_KEY && known.live) return;
        const list = known.at(key);
        const at: At = { from: { server, key }, known, list };
        list.items = { ...items, ...list.items };
        await list.inTurn(async () => {
          if (!list.list) list.list = { tools, about, held: await this.#judge(at, tools, false) };
        });
        known.share(list);
      }),
    );
  }

  /** A list that came is shown when it is known what of it may be. */
  async #judge({ from, known }: At, tools: readonly Tool[], live: boolean): Promise<ReadonlySet<string>> {
    const { identity, own } = known;
    const gate = own && !this.#gate?.enforced ? undefined : this.#gate;
    return (await gate?.judge(from, { identity, tools, live })) ?? NONE_HELD;
  }

  /** Of this list, if it is still the one, these are held back from now on. */
  hold(from: ListSource, tools: readonly Tool[], held: ReadonlySet<string>): void {
    const known = this.#servers.at(from);
    const list = known?.get(from.key);
    if (!known || !list?.list || !sameEntries(list.list.tools, tools)) return;
    list.list = { ...list.list, held };
    this.#shown.update([{ server: from.server, known }]);
  }

  /** Takes over a connected child's own list; rejects, and shows nothing else, if it cannot be had. */
  async refresh(from: ListSource, ask: Ask, about: About): Promise<void> {
    const { server } = from;
    const at = this.#at(from);
    if (!at) return;
    const { known, list } = at;
    const turn = list.begin("tools");
    const since = this.#clock.now();
    const listed = await listTools(server, ask, (problem) => this.#log.warn(problem, { server })).catch(
      (error: Error) => {
        list.fault = error.message;
        throw error;
      },
    );
    const tools = this.#servers.interned(server, listed);
    await list.inTurn(async () => {
      if (!this.#stands(at) || !list.takes("tools", turn)) return;
      this.#log.debug("tools listed", { server, tools: tools.length, ms: this.#clock.now() - since });
      const again = list.live && sameEntries(list.list?.tools, tools);
      const held = again ? undefined : await this.#judge(at, tools, true);
      if (!this.#stands(at)) return;
      const { list: before } = list;
      const same = before && sameEntries(before.tools, tools) && sameAbout(before.about, about);
      list.live = true;
      list.fault = undefined;
      // What was judged stays what it is: an approval is for that very list.
      if (held) list.list = { tools, about, held };
      else if (before) list.list = { ...before, about };
      known.taken(from.key);
      if (!same) this.#keep(at);
      known.share(list);
      this.#shown.update([{ server, known }]);
    });
  }

  /** The same for another list of it; without `ask` it has none. Never rejects: what cannot be listed is not there. */
  async refreshItems(from: ListSource, kind: ItemKind, ask: Ask | undefined): Promise<void> {
    const { server } = from;
    const at = this.#at(from);
    if (!at) return;
    const { known, list } = at;
    const turn = list.begin(kind);
    // Nobody is to wait for this child again and again.
    const patience = this.#clock.after(ITEM_PATIENCE_MS, () => this.#assumeNone(at, kind));
    try {
      const report = (problem: string): void => this.#log.warn(problem, { server });
      const items = ask ? await listAll(server, ITEM_LISTS[kind], ask, report) : [];
      if (!this.#stands(at) || !list.takes(kind, turn)) return;
      if (sameEntries(list.items[kind], items)) return;
      list.items = { ...list.items, [kind]: items satisfies readonly Item[] };
      this.#keep(at);
      known.share(list);
      this.#shown.update([{ server, known }]);
    } catch (error) {
      if (MetaMcpError.is(error) && error.code === "cancelled") return;
      this.#log.warn(`${server}: its ${kind} could not be listed: ${(error as Error).message}`, { server });
      // Of a connection that died nothing is known; whoever answered nonsense has said what there is.
      if (error instanceof RpcError || MetaMcpError.is(error)) this.#assumeNone(at, kind);
    } finally {
      patience.cancel();
    }
  }

  #assumeNone(at: At, kind: ItemKind): void {
    const { list, from, known } = at;
    if (!this.#stands(at) || list.items[kind]) return;
    list.items = { ...list.items, [kind]: [] };
    this.#shown.update([{ server: from.server, known }]);
  }

  #at(from: ListSource): At | undefined {
    const known = this.#servers.at(from);
    return known && { from, known, list: known.at(from.key) };
  }

  #stands({ from, known, list }: At): boolean {
    return this.#servers.has(from, known) && known.get(from.key) === list;
  }

  /** What one account lists is nobody else's to read: it stays in memory. */
  #keep({ from: { server, key }, known: { identity, own }, list }: At): void {
    if (list.list && !own) this.#cache.write(server, { identity, key }, { ...list.list, ...list.items });
  }
}
