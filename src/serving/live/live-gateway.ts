/**
 * The running gateway: holds the compiled configuration, makes one change at a time, and applies it to
 * engine, endpoints and clients.
 */

import { isDeepStrictEqual } from "node:util";
import type { Config } from "../../config/spec.ts";
import type { Engine } from "../../engine/engine.ts";
import {
  type Compiled,
  type CompileOptions,
  compiling,
  namespacesWith,
  type Work,
} from "../../gateway/compile.ts";
import type {
  Changed,
  ComputeChange,
  ConnectionStatus,
  GatewayControl,
  StatusEntry,
  ToolDefinitions,
} from "../../gateway/control.ts";
import type { OverrideSearch } from "../../gateway/endpoint/override-search.ts";
import { allObjects, type Objects } from "../../gateway/objects.ts";
import { type NamedTest, testsFailed, testsIn } from "../../gateway/policy-test.ts";
import { type ChangeContext, type ChangeOutcome, comparing } from "../../gateway/settle.ts";
import { readObjects, writesBetween } from "../../gateway/stored.ts";
import type { TestResult } from "../../gateway/test-result.ts";
import type { ToolRow } from "../../gateway/view/tool-row.ts";
import type { TableRow } from "../../gateway/view/tool-table.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { RevisionServed } from "../../kernel/events.ts";
import type { Log } from "../../kernel/log.ts";
import type { Actor } from "../../kernel/principal.ts";
import type { Revision } from "../../kernel/revision.ts";
import { Sequencer } from "../../kernel/sequencer.ts";
import { inTurns, type Steps } from "../../kernel/steps.ts";
import type { CompiledLayers } from "../../middleware/compiled-layers.ts";
import { type LayerRegistry, NotLoaded } from "../../middleware/registry.ts";
import type { Placements } from "../../replica/placements.ts";
import { StoreError } from "../../store/error.ts";
import type { Store } from "../../store/store.ts";
import type { LastFailures } from "../inspect/last-failures.ts";
import { ServerHistory } from "../inspect/server-history.ts";
import type { ServerLine, ServerLines } from "../inspect/server-lines.ts";
import { statusOf } from "../inspect/server-status.ts";
import { ToolLists } from "../inspect/tool-lists.ts";
import type { ServedEndpoints } from "../site/served-endpoints.ts";
import { engineConfig } from "./engine-config.ts";
import type { PolicyTests } from "./policy-tests.ts";
import type { ServerReachability } from "./reachability.ts";
import { type Reconnect, Reconnects } from "./reconnects.ts";
import { eventRows, summaryOf } from "./revision-summary.ts";
import { layersIn } from "./stored-layers.ts";
import { UpdateSteps } from "./update-steps.ts";

export interface LiveParts {
  readonly store: Store;
  readonly engine: Engine;
  readonly endpoints: ServedEndpoints;
  readonly reach: ServerReachability;
  readonly failures: LastFailures;
  readonly lines: ServerLines;
  readonly layers: LayerRegistry;
  readonly compiledLayers: CompiledLayers;
  readonly search: OverrideSearch;
  readonly compiling: CompileOptions;
  /** The settings of the engine beside its servers. */
  readonly config: Config;
  /** Returns the context for a change that would become this revision. */
  readonly context: (revision: number) => ChangeContext;
  /** Judges calls by a config that need not be served. */
  readonly tests: PolicyTests;
  /** Called when servers may have other names. */
  readonly renamed: () => void;
  /** Undefined if there is no other replica. */
  readonly placement: Pick<Placements, "holderOf" | "restart"> | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Start {
  readonly revision: number;
  readonly compiled: Compiled;
}

type RevisionSource = Pick<RevisionServed, "by" | "who" | "summary">;

/** What applying a revision leads to. */
interface Applied {
  readonly work: Work;
  readonly reconnects: readonly Reconnect[];
}

const NOTHING: Applied = { work: { servers: [], namespaces: [], endpoints: [] }, reconnects: [] };

export class LiveGateway implements GatewayControl {
  readonly #parts: LiveParts;
  readonly #tools: ToolLists;
  readonly #history: ServerHistory;
  readonly #steps: UpdateSteps;
  readonly #reconnects: Reconnects;
  #revision: number;
  #compiled: Compiled;
  /** Ends with the change that was requested last. */
  readonly #changes = new Sequencer();

  constructor({ revision, compiled }: Start, parts: LiveParts) {
    this.#parts = parts;
    this.#revision = revision;
    this.#compiled = compiled;
    this.#steps = new UpdateSteps(parts.engine.events);
    this.#history = new ServerHistory(parts.engine.events);
    this.#tools = new ToolLists({ ...parts, compiled: () => this.#compiled });
    this.#reconnects = new Reconnects({
      ...parts,
      steps: this.#steps,
      compiled: () => this.#compiled,
      statusOf: (server) => this.statusOf(server),
    });
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
    make: ComputeChange<T>,
    { dryRun = false, summary }: { readonly dryRun?: boolean; readonly summary?: string } = {},
  ): Promise<Changed & { readonly outcome: T }> {
    const { outcome, applied, revision } = await this.#changes.run(async () => {
      const { objects: before } = this.#compiled;
      const outcome = await this.#commit(actor, make, { dryRun, summary });
      const said = summary ?? summaryOf(outcome.changes, before, outcome.objects);
      const source = { by: "this" as const, who: actor, summary: said };
      const revision = this.#revision;
      return {
        outcome,
        revision,
        applied: dryRun ? NOTHING : await this.#apply(outcome.objects, revision, source),
      };
    });
    const { changes } = outcome;
    // Not part of the turn: the next change need not wait for servers.
    const connections = await this.#reconnects.run(applied.reconnects);
    return { outcome, changes, connections, revision, namespaces: applied.work.namespaces };
  }

  /** Applies the revisions that other gateways on this store made. */
  follow(): Promise<void> {
    return this.#changes.run(async () => {
      const { reconnects } = await this.#reload();
      void this.#reconnects.run(reconnects);
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
    const { engine, reach, failures, placement } = this.#parts;
    return statusOf(this.#compiled.servers.get(server), {
      engine,
      reach,
      failures,
      history: this.#history,
      holderOf: (id) => placement?.holderOf(id),
    });
  }

  historyOf(server: string): readonly StatusEntry[] {
    return this.#history.of(server);
  }

  async connect(server: string): Promise<ConnectionStatus> {
    if (this.#compiled.servers.get(server)?.spec) await this.#reconnects.renew(server);
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

  logsOf(server: string): readonly ServerLine[] {
    return this.#parts.lines.of(server);
  }

  /**
   * Computes the change and stores it. If another gateway stored a revision first, starts again from that
   * one.
   */
  async #commit<T extends ChangeOutcome>(
    actor: Actor,
    make: ComputeChange<T>,
    { dryRun, summary }: { readonly dryRun: boolean; readonly summary: string | undefined },
  ): Promise<T> {
    const { store, context } = this.#parts;
    for (;;) {
      const base = this.#revision;
      const { objects } = this.#compiled;
      const change = context(base + 1);
      const outcome = await onceLoaded(() => make(objects, change));
      if (outcome.changes.length === 0) return outcome;
      await this.#refuseBroken(outcome.objects);
      if (dryRun) return outcome;
      try {
        const writes = writesBetween(objects, outcome.objects);
        const said = summary ?? summaryOf(outcome.changes, objects, outcome.objects);
        const about = { who: actor, summary: said, at: change.at };
        this.#revision = (await store.commit({ base, ...writes, ...about })).n;
        return outcome;
      } catch (error) {
        if (!StoreError.is(error, "conflict")) throw error;
        void this.#reconnects.run((await this.#reload()).reconnects);
      }
    }
  }

  /** Throws a Refusal if a policy test would fail that passes now, or that is new. */
  async #refuseBroken(objects: Objects): Promise<void> {
    if (testsIn(objects).length === 0) return;
    const { compiling: options, tests } = this.#parts;
    const { compiled } = await inTurns(compiling(objects, options, this.#compiled));
    const failed = (await tests.run(compiled, testsIn(objects))).filter(({ state }) => state === "failed");
    if (failed.length === 0) return;
    const before = await tests.run(this.#compiled, testsIn(this.#compiled.objects));
    const broken = failed.filter((one) => !before.some((old) => isDeepStrictEqual(old, one)));
    if (broken.length > 0) throw testsFailed(broken);
  }

  async judge(
    wanted?: readonly NamedTest[],
    make?: ComputeChange<ChangeOutcome>,
  ): Promise<readonly TestResult[]> {
    const { compiling: options, tests, context } = this.#parts;
    const now = this.#compiled;
    const outcome = make && (await onceLoaded(() => make(now.objects, context(this.#revision + 1))));
    const { compiled } = outcome
      ? await inTurns(compiling(outcome.objects, options, now))
      : { compiled: now };
    return await tests.run(compiled, wanted ?? testsIn(compiled.objects));
  }

  async #reload(): Promise<Applied> {
    const { revision, objects } = await this.#parts.store.load();
    if (revision <= this.#revision) return NOTHING;
    const read = readObjects(objects, this.#compiled.objects);
    await this.#parts.layers.prepare(layersIn(read));
    const [newest] = await this.#parts.store.revisions({ limit: 1 });
    const { who, summary } = newest?.n === revision ? newest : {};
    return await this.#apply(read, revision, {
      by: "other",
      ...(who && { who }),
      ...(summary && { summary }),
    });
  }

  /**
   * Compiles the objects and serves them. All that serves them changes in one turn of the event loop, so that
   * all clients see the change at the same moment.
   */
  async #apply(objects: Objects, revision: number, source: RevisionSource): Promise<Applied> {
    const { engine, endpoints, reach, failures } = this.#parts;
    const before = this.#compiled;
    if (objects === before.objects) {
      this.#revision = revision;
      return NOTHING;
    }
    const changes = await inTurns(comparing(before.objects, objects));
    const rows = changes.filter(({ kind }) => kind === "server");
    const { compiled, work } = await inTurns(compiling(objects, this.#parts.compiling, before));
    // After `compile`, which may throw: no later change may build on a revision that is not served.
    this.#revision = revision;
    this.#compiled = compiled;
    for (const { uuid } of rows) this.#tools.remember(uuid);
    for (const { uuid, op } of rows)
      if (op === "delete") {
        reach.forget(uuid);
        this.#history.forget(uuid);
        failures.forget(uuid);
      }
    const updated = rows.filter(({ op }) => op === "update").map(({ uuid }) => uuid);
    for (const uuid of updated) this.#steps.stored(uuid, revision);
    const reconnects = this.#reconnects.begin(rows, before, compiled);
    this.#serve(compiled);
    const told = endpoints.changed();
    for (const uuid of updated)
      if (!reconnects.some((one) => one.uuid === uuid))
        this.#steps.compiled(uuid, namespacesWith(compiled, uuid), told);
    engine.events.emit({ type: "revision", at: Date.now(), revision, ...source, ...eventRows(changes) });
    return { work, reconnects };
  }

  /** Gives the compiled objects to everything that serves them. */
  #serve(compiled: Compiled): void {
    const { engine, endpoints, search, lines, compiledLayers, config, renamed } = this.#parts;
    engine.apply(engineConfig(config, compiled));
    endpoints.apply(compiled);
    search.keep(compiled);
    lines.keep(compiled.servers);
    compiledLayers.keep(new Set(allObjects(compiled.objects).map(({ uuid }) => uuid)));
    renamed();
  }
}

/** Repeats a pure function until the parts that it needs are loaded. */
async function onceLoaded<T>(make: () => T | Steps<T>): Promise<T> {
  for (;;) {
    try {
      return await inTurns(make());
    } catch (error) {
      if (!(error instanceof NotLoaded)) throw error;
      await error.ready;
    }
  }
}
