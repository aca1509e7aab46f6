/** Opens links to child processes on this machine. Remembers every one that may have something left running. */
import { maskFor } from "../../config/secrets.ts";
import type { ServerSpec, StdioSpec } from "../../config/spec.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Log } from "../../kernel/log.ts";
import { ChildFailure, type Connector, type Link, type LinkEvents } from "../link.ts";
import { childEnvironment } from "./environment.ts";
import { Family } from "./family.ts";
import { StdioLink } from "./link.ts";
import { MARK, Marker, nest, ownGatewayId } from "./mark.ts";
import { hasTable, ProcessTable } from "./processes.ts";
import { RunRecord } from "./record.ts";
import { type Started, start } from "./spawn.ts";

export interface StdioConnectorOptions {
  readonly log: Log;
  readonly clock: Clock;
  readonly maxMessageBytes: number;
  /** Where children are written down on systems that cannot find them by their mark. */
  readonly runFolder?: string;
  /** Hears each line that a child writes on stderr, secrets masked, as far as it is logged. */
  readonly onStderr?: ((spec: ServerSpec, line: string) => void) | undefined;
}

export interface StdioConnector extends Connector {
  /** Resolves when nothing is left of any child that ended or is being ended. */
  settled(): Promise<void>;
  /** Kills all there is, blocking; for the exit of a process that can wait for nothing any more. */
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
  /** Until nothing is left of them. */
  readonly #links = new Map<Family, StdioLink>();

  constructor(options: StdioConnectorOptions) {
    this.#options = options;
    const self = ownGatewayId();
    this.#marker = new Marker(self);
    this.#table = new ProcessTable({ variable: MARK, since: self.start });
    this.#record = options.runFolder && !hasTable ? new RunRecord(options.runFolder) : undefined;
  }

  async open(spec: ServerSpec, events: LinkEvents, signal: AbortSignal): Promise<Link> {
    if (spec.kind !== "stdio") throw new ChildFailure("other", `${spec.name} is not a stdio server.`);
    if (signal.aborted) throw gaveUp();
    const mark = this.#marker.next(spec.name);
    const env = childEnvironment(spec, process.env, process.platform);
    env[MARK] = nest(process.env[MARK], mark);
    const child = await start(spec, env);
    const link = this.#link(child, spec, { mark, events });
    if (!signal.aborted) return link;
    await link.close();
    throw gaveUp();
  }

  #link(
    { process, pid }: Started,
    spec: StdioSpec,
    { mark, events }: { mark: string; events: LinkEvents },
  ): StdioLink {
    const { log, clock, maxMessageBytes, onStderr } = this.#options;
    const family = new Family(pid, mark, this.#table);
    const onEnded = (): void => {
      this.#links.delete(family);
      this.#record?.remove(pid);
    };
    const link = new StdioLink(process, family, {
      server: spec.name,
      mask: maskFor(spec),
      events,
      log,
      clock,
      maxMessageBytes,
      onLine: onStderr && ((line) => onStderr(spec, line)),
      onEnded,
    });
    log.debug("started", { server: spec.name, pid });
    this.#links.set(family, link);
    this.#record?.add(pid);
    return link;
  }

  async settled(): Promise<void> {
    await Promise.all([...this.#links.values()].map(async (link) => await link.ending));
  }

  killAllNow(): void {
    const table = this.#table.readNow();
    for (const family of this.#links.keys()) family.killNow(table);
  }
}

function gaveUp(): ChildFailure {
  return new ChildFailure("other", "Not started: the caller cancelled.", { unsent: true });
}
