/** The running gateway: holds what is compiled, makes changes one at a time, and carries them through to servers and clients. */
import { sameDial } from "../config/identity.ts";
import type { Config } from "../config/spec.ts";
import type { Engine } from "../engine.ts";
import {
  type Compiled,
  type CompileOptions,
  compile,
  namespacesWith,
  type Work,
} from "../gateway/compile.ts";
import type {
  Actor,
  Changed,
  ConnectionStatus,
  GatewayControl,
  Make,
  Revision,
  StatusEntry,
  ToolDefinitions,
} from "../gateway/control.ts";
import type { OverrideSearch } from "../gateway/endpoint/override-search.ts";
import { allObjects, type Objects } from "../gateway/objects.ts";
import { changesConnection } from "../gateway/server-entry.ts";
import { type ChangeContext, type ChangeOutcome, type ChangeRow, changesBetween } from "../gateway/settle.ts";
import { readObjects, writesBetween } from "../gateway/stored.ts";
import type { ToolRow } from "../gateway/view/tool-row.ts";
import type { TableRow } from "../gateway/view/tool-table.ts";
import type { Clock } from "../kernel/clock.ts";
import type { RevisionServed } from "../kernel/events.ts";
import type { Log } from "../kernel/log.ts";
import { type LayerRegistry, NotLoaded } from "../middleware/registry.ts";
import type { LayerStock } from "../middleware/stock.ts";
import { StoreError } from "../store/error.ts";
import type { Store } from "../store/store.ts";
import { engineConfig } from "./engine-config.ts";
import { layersIn } from "./layer-start.ts";
import type { ServerReach } from "./reachability.ts";
import type { ServedEndpoints } from "./served-endpoints.ts";
import { ServerHistory } from "./server-history.ts";
import type { ServerLines } from "./server-lines.ts";
import { statusOf } from "./server-status.ts";
import { ToolLists } from "./tool-lists.ts";
import { UpdateSteps } from "./update-steps.ts";

export interface LiveParts {
  readonly store: Store;
  readonly engine: Engine;
  readonly endpoints: ServedEndpoints;
  readonly reach: ServerReach;
  readonly lines: ServerLines;
  readonly layers: LayerRegistry;
  readonly stock: LayerStock;
  readonly search: OverrideSearch;
  readonly compiling: CompileOptions;
  /** What is configured beside the servers. */
  readonly config: Config;
  /** For a change that would be that revision. */
  readonly context: (revision: number) => ChangeContext;
  /** Servers may have other names. */
  readonly renamed: () => void;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Start {
  readonly revision: number;
  readonly compiled: Compiled;
}

/** How long an answer waits for servers to be connected. */
const PATIENCE_MS = 10_000;

export class LiveGateway implements GatewayControl {
  readonly #parts: LiveParts;
  readonly #tools: ToolLists;
  readonly #history: ServerHistory;
  readonly #steps: UpdateSteps;
  #revision: number;
  #compiled: Compiled;
  #last: Promise<unknown> = Promise.resolve();

  constructor({ revision, compiled }: Start, parts: LiveParts) {
    this.#parts = parts;
    this.#revision = revision;
    this.#compiled = compiled;
    this.#steps = new UpdateSteps(parts.engine.events);
    this.#history = new ServerHistory(parts.engine.events);
    this.#tools = new ToolLists({ ...parts, compiled: () => this.#compiled });
    parts.endpoints.apply(compiled);
  }

  get revision(): number {
    return this.#revision;
  }

  get compiled(): Compiled {
    return this.#compiled;
  }

  async change<T extends ChangeOutcome>(
    actor: Actor,
    make: Make<T>,
    { dryRun = false, summary }: { readonly dryRun?: boolean; readonly summary?: string } = {},
  ): Promise<Changed & { readonly outcome: T }> {
    const { outcome, taken, revision } = await this.#inTurn(async () => {
      const outcome = await this.#commit(actor, make, { dryRun, summary });
      const said = { by: "this" as const, who: actor, summary: summary ?? summaryOf(outcome.changes) };
      const revision = this.#revision;
      return { outcome, revision, taken: dryRun ? NOTHING : this.#take(outcome.objects, revision, said) };
    });
    const { changes } = outcome;
    // The next change need not wait for servers.
    const connections = await this.#connected(taken.reconnect);
    return { outcome, changes, connections, revision, namespaces: taken.work.namespaces };
  }

  /** Another gateway on this store made a revision. */
  follow(): Promise<void> {
    return this.#inTurn(async () => {
      const taken = await this.#reload();
      void this.#connected(taken.reconnect);
    });
  }

  async revisions(page: { readonly before?: number; readonly limit?: number } = {}) {
    return await this.#parts.store.revisions(page);
  }

  async revisionAt(n: number): Promise<(Revision & { readonly objects: Objects }) | undefined> {
    const past = await this.#parts.store.revision(n);
    return past && { ...past, objects: readObjects(past.objects) };
  }

  statusOf(server: string): ConnectionStatus {
    const { engine, reach } = this.#parts;
    return statusOf(this.#compiled.servers.get(server), { engine, reach, history: this.#history });
  }

  historyOf(server: string): readonly StatusEntry[] {
    return this.#history.of(server);
  }

  async connect(server: string): Promise<ConnectionStatus> {
    if (this.#compiled.servers.get(server)?.spec) await this.#stand(server, true);
    return this.statusOf(server);
  }

  toolsOf(...asked: Parameters<GatewayControl["toolsOf"]>): readonly ToolRow[] {
    return this.#tools.rows(...asked);
  }

  definitionsOf(...asked: Parameters<GatewayControl["definitionsOf"]>): ToolDefinitions {
    return this.#tools.definitions(...asked);
  }

  toolTable(): readonly TableRow[] {
    return this.#tools.table();
  }

  logsOf(server: string): readonly string[] {
    return this.#parts.lines.of(server);
  }

  /** Made again on top of what another gateway was quicker with. */
  async #commit<T extends ChangeOutcome>(
    actor: Actor,
    make: Make<T>,
    { dryRun, summary }: { readonly dryRun: boolean; readonly summary: string | undefined },
  ): Promise<T> {
    const { store, context } = this.#parts;
    for (;;) {
      const base = this.#revision;
      const { objects } = this.#compiled;
      const outcome = await loaded(() => make(objects, context(base + 1)));
      if (dryRun || outcome.changes.length === 0) return outcome;
      try {
        const writes = writesBetween(objects, outcome.objects);
        const said = summary ?? summaryOf(outcome.changes);
        const { n } = await store.commit({ base, ...writes, who: actor, summary: said });
        this.#revision = n;
        return outcome;
      } catch (error) {
        if (!StoreError.is(error, "conflict")) throw error;
        void this.#connected((await this.#reload()).reconnect);
      }
    }
  }

  async #reload(): Promise<Taken> {
    const { revision, objects } = await this.#parts.store.load();
    if (revision <= this.#revision) return NOTHING;
    const read = readObjects(objects, this.#compiled.objects);
    await this.#parts.layers.prepare(layersIn(read));
    const [newest] = await this.#parts.store.revisions({ limit: 1 });
    const { who, summary } = newest?.n === revision ? newest : {};
    return this.#take(read, revision, { by: "other", ...(who && { who }), ...(summary && { summary }) });
  }

  /** Makes these objects what is served, at once for everyone. */
  #take(objects: Objects, revision: number, said: Pick<RevisionServed, "by" | "who" | "summary">): Taken {
    const { engine, endpoints, search, lines, stock, compiling, config, renamed, reach } = this.#parts;
    const before = this.#compiled;
    if (objects === before.objects) {
      this.#revision = revision;
      return NOTHING;
    }
    const changes = changesBetween(before.objects, objects);
    const rows = changes.filter(({ kind }) => kind === "server");
    const { compiled, work } = compile(objects, compiling, before);
    // Not earlier: what cannot be compiled is not served, so nothing may be built upon it.
    this.#revision = revision;
    this.#compiled = compiled;
    const reconnect = rows.filter((row) => row.op === "update" && changesConnection(row.fields ?? []));
    for (const { uuid } of rows) this.#tools.remember(uuid);
    for (const { uuid, op } of rows)
      if (op === "delete") {
        reach.forget(uuid);
        this.#history.forget(uuid);
      }
    // Told apart before it is applied: what is dialled otherwise is dialled anew by that alone.
    const updated = rows.filter(({ op }) => op === "update").map(({ uuid }) => uuid);
    for (const uuid of updated) this.#steps.stored(uuid, revision);
    const wanted = reconnect
      .filter(({ uuid }) => compiled.servers.get(uuid)?.spec)
      .map(({ uuid }) => ({ uuid, anew: isSameDial(before, compiled, uuid), ended: reach.begin(uuid) }));
    engine.apply(engineConfig(config, compiled));
    endpoints.apply(compiled);
    search.keep(compiled);
    lines.keep(compiled.servers);
    stock.keep(new Set(allObjects(objects).map(({ uuid }) => uuid)));
    renamed();
    const told = endpoints.changed();
    for (const uuid of updated)
      if (!wanted.some((one) => one.uuid === uuid))
        this.#steps.compiled(uuid, namespacesWith(compiled, uuid), told);
    engine.events.emit({ type: "revision", at: Date.now(), revision, ...said, ...toldOf(changes) });
    return { work, reconnect: wanted };
  }

  async #connected(reconnect: readonly Reconnect[]): Promise<ReadonlyMap<string, ConnectionStatus>> {
    await Promise.all(reconnect.map(({ uuid, anew, ended }) => this.#stand(uuid, anew, ended)));
    return new Map(reconnect.map(({ uuid }) => [uuid, this.statusOf(uuid)]));
  }

  /** Resolves when it stands, failed, or has taken too long to be waited for. */
  #stand(server: string, anew: boolean, ended = this.#parts.reach.begin(server)): Promise<void> {
    const { engine, endpoints, clock } = this.#parts;
    const over = (fault?: string): void => {
      if (!ended(fault)) return;
      const told = endpoints.changed();
      if (fault === undefined) this.#steps.connected(server, this.statusOf(server).toolCount);
      else this.#steps.failed(server, fault);
      this.#steps.compiled(server, namespacesWith(this.#compiled, server), told);
    };
    const standing = engine.stand(server, anew).then(
      () => over(),
      (error: Error) => over(error.message),
    );
    return new Promise((resolve) => {
      const timer = clock.after(PATIENCE_MS, resolve);
      void standing.then(() => {
        timer.cancel();
        resolve();
      });
    });
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => {});
    return turn;
  }
}

/** Made again once what it needs is loaded: it is pure. */
async function loaded<T>(make: () => T): Promise<T> {
  for (;;) {
    try {
      return make();
    } catch (error) {
      if (!(error instanceof NotLoaded)) throw error;
      await error.ready;
    }
  }
}

interface Reconnect {
  readonly uuid: string;
  /** It is reached as before, and connected anew all the same. */
  readonly anew: boolean;
  readonly ended: ReturnType<ServerReach["begin"]>;
}

interface Taken {
  readonly work: Work;
  readonly reconnect: readonly Reconnect[];
}

const NOTHING: Taken = { work: { servers: [], namespaces: [], endpoints: [] }, reconnect: [] };

function isSameDial(before: Compiled, after: Compiled, uuid: string): boolean {
  const [was, is] = [before.servers.get(uuid)?.spec, after.servers.get(uuid)?.spec];
  return was !== undefined && is !== undefined && sameDial(was, is);
}

const MOST_IN_EVENT = 50;

function toldOf(changes: readonly ChangeRow[]): Pick<RevisionServed, "changes" | "more"> {
  const told = changes.slice(0, MOST_IN_EVENT).map(({ op, kind, uuid, name }) => ({ op, kind, uuid, name }));
  const more = changes.length - told.length;
  return { changes: told, ...(more > 0 && { more }) };
}

const MOST_TOLD = 3;

function summaryOf(changes: readonly ChangeRow[]): string {
  const told = changes.slice(0, MOST_TOLD).map(({ op, kind, name }) => `${op} ${kind} "${name}"`);
  const more = changes.length > MOST_TOLD ? [`${changes.length - MOST_TOLD} more`] : [];
  return [...told, ...more].join(", ");
}
