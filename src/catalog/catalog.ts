/**
 * Which tools, prompts and resources exist: the last lists of the children for each list key, filtered by the
 * rules of the config. The catalog itself shows the best known list of each server; a view shows the lists of
 * one client's key. Starts no child and does no ranking.
 */
import type { ServerId } from "../kernel/call.ts";
import type { Clock } from "../kernel/clock.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import { type ListKey, type ListSource, listKeyOf } from "../kernel/list-key.ts";
import type { Log } from "../kernel/log.ts";
import { accountOf } from "../kernel/principal.ts";
import { RpcError } from "../rpc/rpc-error.ts";
import { type About, sameAbout } from "./about.ts";
import type { CatalogView } from "./catalog-view.ts";
import type { Gate } from "./gate.ts";
import { ITEM_KINDS, ITEM_LISTS, type Item, type ItemKind } from "./item.ts";
import type { ListedKind } from "./known-list.ts";
import { ANY_KEY } from "./known-server.ts";
import type { CatalogServer, KnownEntry, KnownServers } from "./known-servers.ts";
import { type Ask, listAll } from "./list-all.ts";
import { ListJudge, type ListRef } from "./list-judge.ts";
import type { LearnedList, ListStorage } from "./list-storage.ts";
import { listTools } from "./list-tools.ts";
import type { BlockedOf } from "./pins/pin-gate.ts";
import { sameEntries } from "./same.ts";
import type { SearchStrategy } from "./search/strategy.ts";
import type { Snapshot } from "./snapshot.ts";
import { type CatalogChange, type Viewer, VisibleCatalog } from "./visible-catalog.ts";

export type { About } from "./about.ts";
export type { CatalogServer } from "./known-servers.ts";
export type { Listing, Snapshot } from "./snapshot.ts";
export type { CatalogChange } from "./visible-catalog.ts";

/** If a child needs longer to list prompts or resources, its list counts as empty until it answers. */
const ITEM_TIMEOUT_MS = 3_000;

export class Catalog implements CatalogView {
  readonly search: SearchStrategy;
  readonly #cache: ListStorage;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #gate: Gate | undefined;
  readonly #judge: ListJudge;
  readonly #visible: VisibleCatalog;
  #loading: Promise<void> = Promise.resolve();
  /**
   * Asks the connected child for its lists again. Resolves with false if there is none, or if it does not
   * answer.
   */
  listAgain: (from: ListSource) => Promise<boolean> = () => Promise.resolve(false);

  constructor(parts: { cache: ListStorage; search: SearchStrategy; clock: Clock; log: Log; gate?: Gate }) {
    this.search = parts.search;
    this.#cache = parts.cache;
    this.#clock = parts.clock;
    this.#log = parts.log;
    this.#gate = parts.gate;
    this.#judge = new ListJudge(parts.gate);
    this.#visible = new VisibleCatalog({ ...parts, loadCached: () => this.loadCached() });
    parts.cache.onLearned?.((learned) => void this.#learn(learned));
  }

  get snapshot(): Snapshot {
    return this.#visible.snapshot;
  }

  /** What this client sees. Runs for every call. */
  view(asker: Viewer): CatalogView {
    return this.#visible.view(asker);
  }

  get #servers(): KnownServers {
    return this.#visible.servers;
  }

  /** The account if the server lists per account, else "", because all accounts share the lists. */
  accountScope(server: ServerId, account: string | undefined): string {
    return this.#servers.accountScope(server, account);
  }

  /**
   * The list key of the lists that this client sees of the server; undefined if its account has no credential
   * there.
   */
  keyFor(server: ServerId, asker: Viewer): ListKey | undefined {
    const account = asker.principal && accountOf(asker.principal);
    return this.#servers.keyFor(server, { key: listKeyOf(asker), account });
  }

  /** Credentials of accounts may have changed, so every view is built again. */
  credentialsChanged(): void {
    this.#visible.invalidateViews();
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

  /** Whether any client or account can see such a tool. */
  hasTool(server: ServerId, tool: string): boolean {
    return this.snapshot.tool(server, tool) !== undefined || this.#servers.someAccountLists(server, tool);
  }

  fault(server: ServerId): string | undefined {
    return this.#servers.get(server)?.fault;
  }

  /** Entries of the server's lists that were repaired or left out, as sentences. */
  listProblems(server: ServerId): readonly string[] {
    return this.#servers.get(server)?.problems ?? [];
  }

  onChange(listener: (change: CatalogChange) => void): () => void {
    return this.#visible.onChange(listener);
  }

  /** Applies a config. Reads no file: `loadCached` reads the cache of new servers on first use. */
  configure(servers: ReadonlyMap<ServerId, CatalogServer>): void {
    const { removed, visible } = this.#servers.configure(servers);
    for (const server of removed) {
      this.#gate?.forget(server);
      if (!servers.has(server)) this.#cache.forget?.(server);
    }
    this.#visible.replace(visible);
  }

  /**
   * Reads the cache of all servers for which it has not been read yet. Resolves when their tools are
   * searchable.
   */
  loadCached(): Promise<void> {
    const missing = this.#servers.shared.filter(({ known }) => !known.cacheRequested);
    if (missing.length > 0) {
      for (const { known } of missing) known.cacheRequested = true;
      this.#loading = Promise.all([this.#loading, this.#load(missing)]).then(() => {});
    }
    return this.#loading;
  }

  async #load(missing: readonly KnownEntry[]): Promise<void> {
    await Promise.all(missing.map((entry) => this.#loadOne(entry)));
    this.#visible.update(missing);
  }

  async #loadOne({ server, known }: KnownEntry): Promise<void> {
    const cached = await this.#cache.read(server, known.identity);
    if (this.#servers.get(server) !== known) return;
    await Promise.all(
      cached.map(async ({ key = ANY_KEY, tools, about, ...items }) => {
        // A cached list without a key is worth less than a list that a connection returned for its key.
        if (key === ANY_KEY && known.live) return;
        const list = known.listFor(key);
        const ref: ListRef = { from: { server, key }, known, list };
        list.items = { ...items, ...list.items };
        await list.queue.run(async () => {
          await this.#judge.holdTexts(ref, { about, prompts: items.prompts }, false);
          if (!list.toolList)
            list.toolList = { tools, about, blocked: await this.#judge.blocked(ref, tools, false) };
        });
        known.shareObjects(list);
      }),
    );
  }

  /**
   * Another process stored this list. It replaces the list of its key, unless a child of this process that is
   * connected answers what it has itself. Starts nothing and is not stored again.
   */
  async #learn({
    server,
    identity,
    list: { key = ANY_KEY, tools, about, ...items },
  }: LearnedList): Promise<void> {
    const known = this.#servers.get(server);
    if (known?.identity !== identity) return;
    const list = known.listFor(key);
    const ref: ListRef = { from: { server, key }, known, list };
    const isKnown =
      sameEntries(list.toolList?.tools, tools) &&
      ITEM_KINDS.every((kind) => !items[kind] || sameEntries(list.items[kind], items[kind]));
    if (!isKnown && (await this.listAgain(ref.from))) return;
    await list.queue.run(async () => {
      const before = list.toolList;
      const same = before && sameEntries(before.tools, tools);
      const blocked = same ? before.blocked : await this.#judge.blocked(ref, tools, false);
      await this.#judge.holdTexts(ref, { about, prompts: items.prompts }, false);
      if (!this.#isCurrent(ref)) return;
      list.toolList = { tools: same ? before.tools : tools, about, blocked };
      for (const kind of ITEM_KINDS)
        if (items[kind] && !sameEntries(list.items[kind], items[kind]))
          list.items = { ...list.items, [kind]: items[kind] };
      known.shareObjects(list);
      this.#visible.update([{ server, known }]);
    });
  }

  /** Replaces what is blocked of a list. Does nothing if the server has listed something else since. */
  setBlocked(from: ListSource, { of, items }: BlockedOf, blocked: ReadonlySet<string>): void {
    const known = this.#servers.serverFor(from);
    const list = known?.get(from.key);
    if (!known || !list?.toolList) return;
    if (of === "tools") {
      if (!sameEntries(list.toolList.tools, items)) return;
      list.toolList = { ...list.toolList, blocked };
    } else if (of === "prompts") {
      if (!sameEntries(list.items.prompts, items)) return;
      list.held = { ...list.held, prompts: blocked };
    } else list.held = { ...list.held, instructions: blocked.size > 0 };
    this.#visible.update([{ server: from.server, known }]);
  }

  /**
   * Lists the tools of a connected child and publishes them. Rejects and changes nothing visible if that
   * fails.
   */
  async refresh(from: ListSource, ask: Ask, about: About): Promise<void> {
    const { server } = from;
    const ref = this.#listRef(from);
    if (!ref) return;
    const { known, list } = ref;
    const refresh = list.startRefresh("tools");
    const since = this.#clock.now();
    const listed = await listTools(server, ask, this.#reporter(ref, "tools")).catch((error: Error) => {
      list.fault = error.message;
      throw error;
    });
    const tools = this.#servers.intern(server, listed);
    await list.queue.run(async () => {
      if (!this.#isCurrent(ref) || !list.acceptRefresh("tools", refresh)) return;
      this.#log.debug("tools listed", { server, tools: tools.length, ms: this.#clock.now() - since });
      const again = list.live && sameEntries(list.toolList?.tools, tools);
      const blocked = again ? undefined : await this.#judge.blocked(ref, tools, true);
      const told = list.live && list.toolList?.about.instructions === about.instructions;
      if (!told) await this.#judge.holdTexts(ref, { about }, true);
      if (!this.#isCurrent(ref)) return;
      const { toolList: before } = list;
      const same = before && sameEntries(before.tools, tools) && sameAbout(before.about, about);
      list.live = true;
      list.fault = undefined;
      // An unchanged list keeps its tool objects and its blocked tools, because an approval is for that list.
      if (blocked) list.toolList = { tools, about, blocked };
      else if (before) list.toolList = { ...before, about };
      known.dropUnkeyed(from.key);
      if (!same) this.#writeCache(ref, "tools");
      known.shareObjects(list);
      this.#visible.update([{ server, known }]);
    });
  }

  /**
   * The same for prompts, resources or templates. Without `ask` the list is empty. Never rejects: a list that
   * fails counts as empty.
   */
  async refreshItems(from: ListSource, kind: ItemKind, ask: Ask | undefined): Promise<void> {
    const { server } = from;
    const ref = this.#listRef(from);
    if (!ref) return;
    const { known, list } = ref;
    const refresh = list.startRefresh(kind);
    // Otherwise each request for this list would wait for the slow child.
    const timeout = this.#clock.after(ITEM_TIMEOUT_MS, () => this.#assumeEmpty(ref, kind));
    try {
      const items = ask ? await listAll(server, ITEM_LISTS[kind], ask, this.#reporter(ref, kind)) : [];
      if (!this.#isCurrent(ref) || !list.acceptRefresh(kind, refresh)) return;
      if (kind === "prompts") await this.#judge.holdTexts(ref, { prompts: items }, true);
      if (!this.#isCurrent(ref)) return;
      if (sameEntries(list.items[kind], items)) return;
      list.items = { ...list.items, [kind]: items satisfies readonly Item[] };
      this.#writeCache(ref, kind);
      known.shareObjects(list);
      this.#visible.update([{ server, known }]);
    } catch (error) {
      if (MetaMcpError.is(error) && error.code === "cancelled") return;
      this.#log.warn(`${server}: its ${kind} could not be listed: ${(error as Error).message}`, { server });
      // An invalid answer counts as an empty list. A lost connection says nothing about the list.
      if (error instanceof RpcError || MetaMcpError.is(error)) this.#assumeEmpty(ref, kind);
    } finally {
      timeout.cancel();
    }
  }

  /** Keeps the problems of one list, and logs those that are new. */
  #reporter({ from: { server }, list }: ListRef, kind: ListedKind): (problem: string) => void {
    const before = list.problems.get(kind) ?? [];
    const problems: string[] = [];
    list.problems.set(kind, problems);
    return (problem) => {
      problems.push(problem);
      if (!before.includes(problem)) this.#log.warn(problem, { server });
    };
  }

  #assumeEmpty(ref: ListRef, kind: ItemKind): void {
    const { list, from, known } = ref;
    if (!this.#isCurrent(ref) || list.items[kind]) return;
    list.items = { ...list.items, [kind]: [] };
    this.#visible.update([{ server: from.server, known }]);
  }

  #listRef(from: ListSource): ListRef | undefined {
    const known = this.#servers.serverFor(from);
    return known && { from, known, list: known.listFor(from.key) };
  }

  #isCurrent({ from, known, list }: ListRef): boolean {
    return this.#servers.has(from, known) && known.get(from.key) === list;
  }

  /** Lists of single accounts are private, so they stay in memory. */
  #writeCache({ from: { server, key }, known: { identity, own }, list }: ListRef, changed: ListedKind): void {
    if (list.toolList && !own)
      this.#cache.write(server, { identity, key }, { ...list.toolList, ...list.items }, [changed]);
  }
}
