/**
 * Opens links to child processes on this machine, and keeps track of all links whose processes may still run.
 */
import { maskFor } from "../../config/secrets.ts";
import type { ServerSpec, StdioSpec } from "../../config/spec.ts";
import type { Env } from "../../home/home.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Log } from "../../kernel/log.ts";
import type { ChildUser } from "../child-user.ts";
import { mayInstall } from "../download.ts";
import { ChildFailure, type Connector, type Link, type LinkEvents } from "../link.ts";
import type { Confinement } from "./confine/confine.ts";
import type { Attempt } from "./confine/egress.ts";
import { childEnvironment, environmentOf } from "./environment.ts";
import { InstallPlaces } from "./install-places.ts";
import { type LinkOptions, StdioLink } from "./link.ts";
import { MARK, Marker, nest, ownGatewayId } from "./mark.ts";
import { cacheAdvice, isInstalled, npxFolder } from "./npx-cache.ts";
import { ProcessTree } from "./process-tree.ts";
import { hasTable, ProcessTable } from "./processes.ts";
import { RunRecord } from "./record.ts";
import { type Environment, type Started, start } from "./spawn.ts";

export interface StdioConnectorOptions {
  readonly log: Log;
  readonly clock: Clock;
  readonly maxMessageBytes: number;
  /** The user that children run as. Default: that of this process. */
  readonly user?: ChildUser | undefined;
  /** The variables that children can inherit. Default: those of this process. */
  readonly inherited?: Env | undefined;
  /** The folder for records of children, on systems that cannot find processes by their mark. */
  readonly runFolder?: string;
  /** METAMCP_HOME, where confined servers have their private folders. Without it none of them starts. */
  readonly home?: string;
  /**
   * Called for each line of stderr that is logged, with secrets masked. With it no failure text contains the
   * output: who may read it gets these lines.
   */
  readonly onStderr?: ((spec: ServerSpec, line: string) => void) | undefined;
  /** Called for each connection that a confined server asks its proxy for. */
  readonly onEgress?: ((spec: ServerSpec, attempt: Attempt) => void) | undefined;
}

interface Starting extends Pick<LinkOptions, "install" | "events"> {
  readonly mark: string;
  readonly confinement: Confinement | undefined;
}

export interface StdioConnector extends Connector {
  /** Resolves when no process is left of children that have ended or are being ended. */
  settled(): Promise<void>;
  /** Kills all children synchronously, for a process that exits and cannot wait. */
  killAllNow(): void;
}

export function createStdioConnector(options: StdioConnectorOptions): StdioConnector {
  return new Spawner(options);
}

class Spawner implements StdioConnector {
  readonly #options: StdioConnectorOptions;
  readonly #marker: Marker;
  readonly #table: ProcessTable;
  readonly #record: RunRecord | undefined;
  readonly #places: InstallPlaces;
  /** Links whose processes may still run. */
  readonly #links = new Map<ProcessTree, StdioLink>();

  constructor(options: StdioConnectorOptions) {
    this.#options = options;
    this.#places = new InstallPlaces(options.clock);
    const self = ownGatewayId();
    this.#marker = new Marker(self);
    this.#table = new ProcessTable({ variable: MARK, since: self.start, user: options.user });
    this.#record = options.runFolder && !hasTable ? new RunRecord(options.runFolder) : undefined;
  }

  async open(spec: ServerSpec, events: LinkEvents, signal: AbortSignal): Promise<Link> {
    if (spec.kind !== "stdio") throw new ChildFailure("other", `${spec.name} is not a stdio server.`);
    if (signal.aborted) throw cancelled();
    const mark = this.#marker.next(spec.name);
    const { user, inherited = process.env } = this.#options;
    const confinement = spec.sandbox && (await this.#confinement(spec));
    const env = confinement?.env ?? childEnvironment(spec, environmentOf(user, inherited), process.platform);
    env[MARK] = nest(inherited[MARK], mark);
    const install = mayInstall(spec) ? { folder: npxFolder(spec, env) } : undefined;
    // What is installed already starts at once; other runners than npx lock their caches themselves.
    const giveBack =
      install?.folder && !isInstalled(install.folder) ? await this.#places.take(signal) : undefined;
    const child = await this.#start(spec, env, confinement).catch((error: unknown) => {
      giveBack?.();
      void confinement?.end();
      throw error;
    });
    const link = this.#link(child, spec, { mark, events, install, confinement });
    confinement?.installsWhile(() => link.installing());
    if (giveBack) this.#places.giveBackWhen(() => link.ending !== undefined || !link.installing(), giveBack);
    if (!signal.aborted) return link;
    await link.close();
    throw cancelled();
  }

  async #start(spec: StdioSpec, env: Environment, confinement: Confinement | undefined): Promise<Started> {
    const { user } = this.#options;
    if (!spec.sandbox) return await start(spec, env, user);
    if (!confinement) throw new ChildFailure("other", `${spec.name} cannot be confined here.`);
    const confined = await confinement.confine(spec, spec.sandbox, env);
    return await start(confined, confined.env, confined.asOurselves ? undefined : user);
  }

  /** Loaded at the first server that asks for it. */
  async #confinement(spec: StdioSpec): Promise<Confinement | undefined> {
    const { home, user, inherited = process.env } = this.#options;
    if (home === undefined) return undefined;
    const { Confinement: Made } = await import("./confine/confine.ts");
    return await Made.of(spec, {
      home,
      user,
      parent: inherited,
      onAttempt: (attempt) => this.#attempted(spec, attempt),
    });
  }

  #attempted(spec: ServerSpec, attempt: Attempt): void {
    const { log, onEgress } = this.#options;
    const { host, port, refused } = attempt;
    onEgress?.(spec, attempt);
    const fields = { server: spec.name, host, port };
    if (refused === undefined) log.info("a confined server opened a connection", fields);
    else log.warn(`a connection of a confined server was refused: ${refused}`, fields);
  }

  #link({ process, pid }: Started, spec: StdioSpec, more: Starting): StdioLink {
    const { mark, events, install, confinement } = more;
    const { log, clock, maxMessageBytes, onStderr } = this.#options;
    const tree = new ProcessTree(
      pid,
      mark,
      this.#table,
      spec.sandbox !== undefined && spec.sandbox.image === undefined,
    );
    const onEnded = async (): Promise<void> => {
      this.#record?.remove(pid);
      await confinement?.end();
      this.#links.delete(tree);
    };
    const link = new StdioLink(process, tree, {
      server: spec.name,
      mask: maskFor(spec),
      events,
      log,
      clock,
      maxMessageBytes,
      onLine: onStderr && ((line) => onStderr(spec, line)),
      hidesOutput: onStderr !== undefined,
      install,
      advice: (output) => confinement?.advice(output) ?? (install && cacheAdvice(output, install.folder)),
      onEnded,
    });
    log.debug("started", { server: spec.name, pid });
    this.#links.set(tree, link);
    this.#record?.add(pid);
    return link;
  }

  async settled(): Promise<void> {
    await Promise.all([...this.#links.values()].map(async (link) => await link.ending));
  }

  killAllNow(): void {
    const table = this.#table.readNow();
    for (const tree of this.#links.keys()) tree.killNow(table);
  }
}

function cancelled(): ChildFailure {
  return new ChildFailure("other", "Not started: the caller cancelled.", { unsent: true });
}
