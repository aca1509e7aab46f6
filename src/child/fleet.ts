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
import type { ServerStatus } from "../kernel/server-status.ts";
import type { Severity } from "../kernel/severity.ts";
import { AccountChildren } from "./account-children.ts";
import { Child } from "./child.ts";
import type { ChildParts } from "./child-parts.ts";
import type { HandshakeResult } from "./handshake.ts";
import type { Connector } from "./link.ts";
import { Pool } from "./pool.ts";
import { type CallerCredentials, NO_CREDENTIALS } from "./unused-status.ts";

export interface FleetParts
  extends Pick<ChildParts, "eraOf" | "onHandshake" | "onListChanged" | "events" | "howToLogIn"> {
  readonly clock: Clock;
  readonly log: Log;
  readonly connector: (spec: ServerSpec) => Promise<Connector>;
  /** For servers that each account uses with its own credential. Without it no caller may use them. */
  readonly credentials?: CallerCredentials | undefined;
}

export interface ConnectionCounts {
  readonly states: Readonly<Record<"connecting" | "active" | "idle" | "failed", number>>;
  readonly breakers: Readonly<Record<"open" | "half-open", number>>;
  /** Number of connects that wait for a slot in the pool. */
  readonly waiting: number;
  /** Number of processes of local servers. */
  readonly processes: number;
}

/** States of a connection whose process runs. */
const RUNNING: ReadonlySet<string> = new Set(["connecting", "active", "idle"]);

export class Fleet {
  readonly #parts: FleetParts;
  readonly #pool: Pool;
  readonly #children = new Map<ServerId, Child>();
  readonly #accounts: AccountChildren;
  /** Children of removed servers that finish their calls. */
  readonly #leaving = new Set<Child>();
  /** The log level that a client set, by session. */
  readonly #levels = new Map<string, Severity>();
  #config: Config;
  #closing = false;

  constructor(config: Config, parts: FleetParts) {
    this.#config = config;
    this.#parts = parts;
    const { events, credentials = NO_CREDENTIALS } = parts;
    this.#accounts = new AccountChildren(credentials, (spec) => new Child(spec, this.#childParts()));
    this.#pool = new Pool(config.pool, parts.clock, parts.log, (waiting) => {
      if (events?.hasListeners) events.emit({ type: "pool", at: Date.now(), waiting });
    });
    this.apply(config);
  }

  readonly handle: Handler = (call: Call) => this.#child(call.server, call.origin).handle(call);

  /** Connects a server for a client. `list` asks again for lists that could not be read. */
  async connect(server: ServerId, origin: Origin, how: { list?: boolean } = {}): Promise<Lease> {
    return await this.#child(server, origin).connect(origin, how);
  }

  /**
   * Resolves once the server is connected for the clients that use it; if there are none, for `origin`. With
   * `reconnect` all its connections are replaced first. A server with credentials per account is connected
   * only for accounts that use it.
   */
  async ensureConnected(server: ServerId, origin: Origin, reconnect: boolean): Promise<void> {
    const base = this.#base(server);
    const perAccount = base.connections.spec.perAccount !== undefined;
    const children = perAccount ? this.#accounts.at(server) : [base];
    if (reconnect) for (const { connections } of children) connections.reconnect();
    if (!perAccount) return await base.ensureConnected(origin);
    const used = children.filter(({ connections }) => connections.current.some(({ usable }) => usable));
    // A failed login of one account says nothing about the server.
    await Promise.allSettled(used.map((child) => child.ensureConnected(origin)));
  }

  /** Connects a server for a client, and returns what the server said about itself. */
  async shakeHands(server: ServerId, origin: Origin): Promise<HandshakeResult | undefined> {
    const child = this.#child(server, origin);
    const lease = await child.connect(origin);
    lease.release();
    return child.connections.handshake(origin);
  }

  /** Whether the server is connected for calls of this client. */
  connected(server: ServerId, origin: Origin): boolean {
    const base = this.#children.get(server);
    const spec = base?.connections.spec;
    const child = spec?.perAccount ? this.#accounts.find(spec, accountOf(origin.principal)) : base;
    return child?.connections.connected(origin) ?? false;
  }

  /** Whether a package runner is installing the server, or it waits for its turn to be installed. */
  installing(server: ServerId): boolean {
    const current = this.#children.get(server)?.connections.current ?? [];
    return current.some(({ state, startPhase }) => state === "connecting" && startPhase !== "started");
  }

  /** The credentials of some account may have changed. */
  credentialsChanged(): void {
    for (const { connections } of this.#children.values())
      if (connections.spec.perAccount) this.#accounts.apply(connections.spec);
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
      this.#accounts.remove(name, reason);
    }
    for (const [name, spec] of config.servers) {
      const child = this.#children.get(name);
      if (child) child.connections.apply(spec);
      else this.#children.set(name, new Child(spec, this.#childParts()));
      if (spec.perAccount) this.#accounts.apply(spec);
    }
    this.#pool.configure(config.pool);
  }

  /** The status for this caller; without one, for all callers together. `only`: of one server. */
  status(asker?: Pick<Asker, "principal">, only?: ServerId): readonly ServerStatus[] {
    const one = only === undefined ? undefined : this.#children.get(only);
    const children = only === undefined ? [...this.#children.values()] : one ? [one] : [];
    return children.map((child) => {
      const { spec } = child.connections;
      return spec.perAccount ? this.#accounts.status(spec, asker) : child.status();
    });
  }

  counts(): ConnectionCounts {
    const states = { connecting: 0, active: 0, idle: 0, failed: 0 };
    const breakers = { open: 0, "half-open": 0 };
    let processes = 0;
    for (const child of this.#all()) {
      const { phase } = child.breaker;
      if (phase !== "closed") breakers[phase] += 1;
      const { current, spec } = child.connections;
      for (const { state } of current) if (state !== "closed") states[state] += 1;
      if (spec.kind === "stdio") processes += current.filter(({ state }) => RUNNING.has(state)).length;
    }
    return { states, breakers, processes, waiting: this.#pool.stats.waiting };
  }

  /** The servers to which a client has an open connection, its own or shared. */
  heldBy(session: string): readonly ServerId[] {
    const held = this.#all().filter(({ connections }) => connections.heldBy(session) > 0);
    return [...new Set(held.map(({ connections }) => idOf(connections.spec)))];
  }

  setLogLevel(session: string, level: Severity): void {
    this.#levels.set(session, level);
    for (const child of this.#all()) child.connections.updateLogLevel(session);
  }

  /** Forwards a notification of a client to the children it has connections to. */
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
    const children = [...this.#all(), ...this.#leaving, ...this.#accounts.leaving];
    await Promise.all(children.map((child) => child.connections.destroy("MetaMCP is stopping")));
  }

  #all(): readonly Child[] {
    return [...this.#children.values(), ...this.#accounts.all];
  }

  /** The child for calls of this caller. */
  #child(server: ServerId, { principal }: Pick<Origin, "principal">): Child {
    const base = this.#base(server);
    const { spec } = base.connections;
    return spec.perAccount ? this.#accounts.of(spec, accountOf(principal)) : base;
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
