/** All children. Takes a config, offers the one verb, and is the only place that acts on a change. */
import type { Config, ServerSpec } from "../config/spec.ts";
import type { Call, Handler, Lease, Origin, ServerId } from "../kernel/call.ts";
import type { Clock } from "../kernel/clock.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import type { Log } from "../kernel/log.ts";
import type { Raw } from "../kernel/raw.ts";
import type { Severity } from "../kernel/severity.ts";
import { Child } from "./child.ts";
import type { ChildParts } from "./connections.ts";
import type { Connector } from "./link.ts";
import { Pool } from "./pool.ts";
import type { ChildStatus } from "./status.ts";

export interface FleetParts extends Pick<ChildParts, "eraOf" | "greet" | "onListChanged"> {
  readonly clock: Clock;
  readonly log: Log;
  readonly connector: (spec: ServerSpec) => Promise<Connector>;
}

export class Fleet {
  readonly #parts: FleetParts;
  readonly #pool: Pool;
  readonly #children = new Map<ServerId, Child>();
  /** No longer configured, but still finishing calls. */
  readonly #leaving = new Set<Child>();
  /** By session, where a client said which log messages it wants. */
  readonly #levels = new Map<string, Severity>();
  #config: Config;
  #closing = false;

  constructor(config: Config, parts: FleetParts) {
    this.#config = config;
    this.#parts = parts;
    this.#pool = new Pool(config.pool, parts.clock, parts.log);
    this.apply(config);
  }

  readonly handle: Handler = (call: Call) => this.#child(call.server).handle(call);

  async connect(server: ServerId, origin: Origin): Promise<Lease> {
    return await this.#child(server).connect(origin);
  }

  apply(config: Config): void {
    this.#config = config;
    for (const [name, child] of this.#children) {
      if (config.servers.has(name)) continue;
      this.#children.delete(name);
      this.#leaving.add(child);
      void child.connections.remove().finally(() => this.#leaving.delete(child));
    }
    for (const [name, spec] of config.servers) {
      const child = this.#children.get(name);
      if (child) child.connections.apply(spec);
      else this.#children.set(name, new Child(spec, this.#childParts()));
    }
    this.#pool.configure(config.pool);
  }

  status(): readonly ChildStatus[] {
    return [...this.#children.values()].map((child) => child.status());
  }

  setLogLevel(session: string, level: Severity): void {
    this.#levels.set(session, level);
    for (const child of this.#children.values()) child.connections.relevel(session);
  }

  /** Passes a notification of a client on to the children on its connections. */
  notify(session: string, method: string, params: Raw | undefined): void {
    for (const child of this.#children.values()) child.connections.notify(session, method, params);
  }

  sessionEnded(session: string): void {
    this.#levels.delete(session);
    for (const child of this.#children.values()) child.connections.sessionEnded(session);
  }

  /** Ends all children in parallel; resolves when no process is left. */
  async destroy(): Promise<void> {
    this.#closing = true;
    this.#pool.close();
    const children = [...this.#children.values(), ...this.#leaving];
    await Promise.all(children.map((child) => child.connections.destroy("MetaMCP is stopping")));
  }

  #child(server: ServerId): Child {
    if (this.#closing)
      throw new MetaMcpError("server_unavailable", "MetaMCP is stopping.", { server, retryable: false });
    const child = this.#children.get(server);
    if (!child)
      throw new MetaMcpError("server_not_found", `No server "${server}" is configured.`, { server });
    return child;
  }

  #childParts(): ChildParts {
    return {
      ...this.#parts,
      pool: this.#pool,
      levelOf: (session) => this.#levels.get(session),
      breaker: () => ({
        threshold: this.#config.pool.failureThreshold,
        cooldownMs: this.#config.pool.cooldownMs,
      }),
    };
  }
}
