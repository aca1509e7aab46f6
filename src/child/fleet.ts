/** All children: routes each call to its server, and applies a new config to the connections. */
import { idOf } from "../config/identity.ts";
import type { Config, ServerSpec } from "../config/spec.ts";
import type { Call, Handler, Lease, Origin, ServerId } from "../kernel/call.ts";
import type { Clock } from "../kernel/clock.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import type { Asker } from "../kernel/list-key.ts";
import type { Log } from "../kernel/log.ts";
import { accountOf } from "../kernel/principal.ts";
import type { Raw } from "../kernel/raw.ts";
import type { Severity } from "../kernel/severity.ts";
import { Child } from "./child.ts";
import type { ChildParts } from "./child-parts.ts";
import type { Connector } from "./link.ts";
import { type CallerCredentials, OwnChildren } from "./own-children.ts";
import { Pool } from "./pool.ts";
import type { ChildStatus } from "./status.ts";

export interface FleetParts
  extends Pick<ChildParts, "eraOf" | "greet" | "onListChanged" | "events" | "howToLogIn"> {
  readonly clock: Clock;
  readonly log: Log;
  readonly connector: (spec: ServerSpec) => Promise<Connector>;
  /** For servers that let each account in as itself; without it they let nobody in. */
  readonly credentials?: CallerCredentials | undefined;
}

const NO_CREDENTIALS: CallerCredentials = {
  of: ({ name }) =>
    new MetaMcpError("auth_required", `${name} works only with accounts of a gateway.`, { server: name }),
};

export interface ConnectionCounts {
  readonly states: Readonly<Record<"connecting" | "active" | "idle" | "failed", number>>;
  readonly breakers: Readonly<Record<"open" | "half-open", number>>;
  /** Connects waiting for a place in the pool. */
  readonly waiting: number;
}

export class Fleet {
  readonly #parts: FleetParts;
  readonly #pool: Pool;
  readonly #children = new Map<ServerId, Child>();
  readonly #own: OwnChildren;
  /** No longer configured, but still finishing calls. */
  readonly #leaving = new Set<Child>();
  /** By session, where a client said which log messages it wants. */
  readonly #levels = new Map<string, Severity>();
  #config: Config;
  #closing = false;

  constructor(config: Config, parts: FleetParts) {
    this.#config = config;
    this.#parts = parts;
    const { events, credentials = NO_CREDENTIALS } = parts;
    this.#own = new OwnChildren(credentials, (spec) => new Child(spec, this.#childParts()));
    this.#pool = new Pool(config.pool, parts.clock, parts.log, (waiting) => {
      if (events?.heard) events.emit({ type: "pool", at: Date.now(), waiting });
    });
    this.apply(config);
  }

  readonly handle: Handler = (call: Call) => this.#child(call.server, call.origin).handle(call);

  /** `list`: what could not be listed is asked for again. */
  async connect(server: ServerId, origin: Origin, how: { list?: boolean } = {}): Promise<Lease> {
    return await this.#child(server, origin).connect(origin, how);
  }

  /**
   * Connects it anew where `anew` is said, and resolves once it is connected: for whom it was, else for `origin`. One that
   * lets accounts in as themselves is connected for those alone who use it.
   */
  async stand(server: ServerId, origin: Origin, anew: boolean): Promise<void> {
    const base = this.#base(server);
    const own = base.connections.spec.perAccount !== undefined;
    const children = own ? this.#own.at(server) : [base];
    if (anew) for (const { connections } of children) connections.renew();
    if (!own) return await base.stand(origin);
    const used = children.filter(({ connections }) => connections.current.some(({ usable }) => usable));
    // One account that is not let in says nothing about the server.
    await Promise.allSettled(used.map((child) => child.stand(origin)));
  }

  /** Whether calls of this client find it connected. */
  connected(server: ServerId, origin: Origin): boolean {
    const base = this.#children.get(server);
    const spec = base?.connections.spec;
    const child = spec?.perAccount ? this.#own.find(spec, accountOf(origin.principal)) : base;
    return child?.connections.connected(origin) ?? false;
  }

  /** What accounts are let in with may be something else. */
  credentialsChanged(): void {
    for (const { connections } of this.#children.values())
      if (connections.spec.perAccount) this.#own.settle(connections.spec);
  }

  apply(config: Config): void {
    this.#config = config;
    for (const [name, child] of this.#children) {
      const spec = config.servers.get(name);
      if (spec && spec.perAccount === child.connections.spec.perAccount) continue;
      this.#children.delete(name);
      this.#leaving.add(child);
      const reason = spec ? loginChanged(spec) : removed(child.connections.spec);
      void child.connections.remove(reason).finally(() => this.#leaving.delete(child));
      this.#own.remove(name, reason);
    }
    for (const [name, spec] of config.servers) {
      const child = this.#children.get(name);
      if (child) child.connections.apply(spec);
      else this.#children.set(name, new Child(spec, this.#childParts()));
      if (spec.perAccount) this.#own.settle(spec);
    }
    this.#pool.configure(config.pool);
  }

  /** As this caller finds them; for all together where none is named. */
  status(asker?: Pick<Asker, "principal">): readonly ChildStatus[] {
    return [...this.#children.values()].map((child) => {
      const { spec } = child.connections;
      return spec.perAccount ? this.#own.status(spec, asker) : child.status();
    });
  }

  counts(): ConnectionCounts {
    const states = { connecting: 0, active: 0, idle: 0, failed: 0 };
    const breakers = { open: 0, "half-open": 0 };
    for (const child of this.#all()) {
      const { phase } = child.breaker;
      if (phase !== "closed") breakers[phase] += 1;
      for (const { state } of child.connections.current) if (state !== "closed") states[state] += 1;
    }
    return { states, breakers, waiting: this.#pool.stats.waiting };
  }

  /** The servers that a client has an open connection to, its own or shared. */
  heldBy(session: string): readonly ServerId[] {
    const held = this.#all().filter(({ connections }) => connections.heldBy(session) > 0);
    return [...new Set(held.map(({ connections }) => idOf(connections.spec)))];
  }

  setLogLevel(session: string, level: Severity): void {
    this.#levels.set(session, level);
    for (const child of this.#all()) child.connections.relevel(session);
  }

  /** Passes a notification of a client on to the children on its connections. */
  notify(origin: Origin, method: string, params: Raw | undefined): void {
    for (const { connections } of this.#all()) {
      if (method === "notifications/roots/list_changed") connections.rootsChanged(origin, params);
      else connections.notify(origin.session, method, params);
    }
  }

  sessionEnded(session: string): void {
    this.#levels.delete(session);
    for (const child of this.#all()) child.connections.sessionEnded(session);
  }

  /** Ends all children in parallel; resolves when no process is left. */
  async destroy(): Promise<void> {
    this.#closing = true;
    this.#pool.close();
    const children = [...this.#all(), ...this.#leaving, ...this.#own.leaving];
    await Promise.all(children.map((child) => child.connections.destroy("MetaMCP is stopping")));
  }

  #all(): readonly Child[] {
    return [...this.#children.values(), ...this.#own.all];
  }

  /** The one that this caller's calls go to. */
  #child(server: ServerId, { principal }: Pick<Origin, "principal">): Child {
    const base = this.#base(server);
    const { spec } = base.connections;
    return spec.perAccount ? this.#own.of(spec, accountOf(principal)) : base;
  }

  #base(server: ServerId): Child {
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

function removed({ name }: ServerSpec): MetaMcpError {
  return new MetaMcpError("server_not_found", `Server "${name}" was removed.`, { server: name });
}

function loginChanged({ name }: ServerSpec): MetaMcpError {
  const text = `The login settings of server "${name}" changed. Try again.`;
  return new MetaMcpError("server_unavailable", text, { server: name });
}
