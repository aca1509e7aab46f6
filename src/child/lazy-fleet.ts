/**
 * The fleet before its first use: until a server is needed, the code that runs servers is not loaded and no
 * child exists.
 */

import type { Config } from "../config/spec.ts";
import type { Call, Handler, Lease, Origin, ServerId } from "../kernel/call.ts";
import type { Asker } from "../kernel/list-key.ts";
import type { Raw } from "../kernel/raw.ts";
import type { ServerStatus } from "../kernel/server-status.ts";
import type { Severity } from "../kernel/severity.ts";
import type { ConnectionCounts, Fleet, FleetParts } from "./fleet.ts";
import type { HandshakeResult } from "./handshake.ts";
import { unusedStatus } from "./unused-status.ts";

const NO_CONNECTIONS: ConnectionCounts = {
  states: { connecting: 0, active: 0, idle: 0, failed: 0 },
  breakers: { open: 0, "half-open": 0 },
  waiting: 0,
  processes: 0,
};

export class LazyFleet {
  readonly #parts: FleetParts;
  /** Log levels that clients set before the fleet was loaded, by session. */
  readonly #levels = new Map<string, Severity>();
  #config: Config;
  #loading: Promise<Fleet> | undefined;
  #fleet: Fleet | undefined;
  #closing = false;

  constructor(config: Config, parts: FleetParts) {
    this.#config = config;
    this.#parts = parts;
  }

  readonly handle: Handler = (call: Call) =>
    this.#fleet ? this.#fleet.handle(call) : this.#load().then((fleet) => fleet.handle(call));

  async connect(server: ServerId, origin: Origin, how?: { list?: boolean }): Promise<Lease> {
    return await (await this.#load()).connect(server, origin, how);
  }

  async shakeHands(server: ServerId, origin: Origin): Promise<HandshakeResult | undefined> {
    return await (await this.#load()).shakeHands(server, origin);
  }

  async ensureConnected(server: ServerId, origin: Origin, reconnect: boolean): Promise<void> {
    await (await this.#load()).ensureConnected(server, origin, reconnect);
  }

  connected(server: ServerId, origin: Origin): boolean {
    return this.#fleet?.connected(server, origin) ?? false;
  }

  installing(server: ServerId): boolean {
    return this.#fleet?.installing(server) ?? false;
  }

  credentialsChanged(): void {
    this.#fleet?.credentialsChanged();
  }

  apply(config: Config): void {
    this.#config = config;
    this.#fleet?.apply(config);
  }

  /** The status for this caller; without one, for all callers together. */
  status(asker?: Pick<Asker, "principal">, only?: ServerId): readonly ServerStatus[] {
    if (this.#fleet) return this.#fleet.status(asker, only);
    const { credentials } = this.#parts;
    const { servers } = this.#config;
    const one = only === undefined ? undefined : servers.get(only);
    const specs = only === undefined ? [...servers.values()] : one ? [one] : [];
    return specs.map((spec) => unusedStatus(spec, credentials, asker));
  }

  counts(): ConnectionCounts {
    return this.#fleet?.counts() ?? NO_CONNECTIONS;
  }

  heldBy(session: string): readonly ServerId[] {
    return this.#fleet?.heldBy(session) ?? [];
  }

  setLogLevel(session: string, level: Severity): void {
    if (this.#fleet) this.#fleet.setLogLevel(session, level);
    else this.#levels.set(session, level);
  }

  notify(origin: Origin, method: string, params: Raw | undefined): void {
    this.#fleet?.notify(origin, method, params);
  }

  sessionEnded(session: string): void {
    this.#levels.delete(session);
    this.#fleet?.sessionEnded(session);
  }

  async destroy(): Promise<void> {
    this.#closing = true;
    await (await this.#loading)?.destroy();
  }

  #load(): Promise<Fleet> {
    this.#loading ??= this.#create();
    return this.#loading;
  }

  async #create(): Promise<Fleet> {
    const { Fleet } = await import("./fleet.ts");
    const fleet = new Fleet(this.#config, this.#parts);
    for (const [session, level] of this.#levels) fleet.setLogLevel(session, level);
    this.#levels.clear();
    // It then refuses all calls.
    if (this.#closing) void fleet.destroy();
    this.#fleet = fleet;
    return fleet;
  }
}
