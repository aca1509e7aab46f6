/**
 * The connections of one child: finds or opens the one for a caller, and replaces or ends them when settings
 * or roots change.
 */
import { idOf, sameDial } from "../config/identity.ts";
import type { ServerSpec } from "../config/spec.ts";
import type { Origin } from "../kernel/call.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import { type ListSource, listKeyOf } from "../kernel/list-key.ts";
import type { Raw } from "../kernel/raw.ts";
import type { KnownRoots } from "../kernel/roots.ts";
import { type Signal, unlessAborted } from "../kernel/signal.ts";
import type { Audience } from "./audience.ts";
import type { Breaker } from "./breaker.ts";
import type { ChildParts } from "./child-parts.ts";
import { type Claim, claimOf } from "./claim.ts";
import { Connection } from "./connection.ts";
import { connectionReporter } from "./connection-events.ts";
import type { Ask } from "./connection-parts.ts";
import { ConnectionTable } from "./connection-table.ts";
import type { HandshakeResult } from "./handshake.ts";
import type { Health } from "./health.ts";
import { firstKey, instanceKey, instanceKeys, instanceOf, instancesOf } from "./instance.ts";
import { Losses } from "./losses.ts";

export class Connections {
  readonly losses: Losses;
  readonly #parts: ChildParts;
  readonly #health: Health;
  readonly #table: ConnectionTable;
  readonly #byKey: Map<string, Connection>;
  /** Connections with old settings that finish their calls. */
  readonly #retiring = new Set<Connection>();
  /** The child has asked for roots on some connection. It will ask for the roots of other clients too. */
  #wantsRoots = false;
  #spec: ServerSpec;
  /** Number of callers in `reach`. Not all of them hold a connection. */
  #reaching = 0;
  /** Why no connection is opened any more. */
  #endReason: MetaMcpError | undefined;

  constructor(spec: ServerSpec, parts: ChildParts, health: Health) {
    this.#spec = spec;
    this.#parts = parts;
    this.#health = health;
    this.losses = new Losses(health, parts);
    this.#table = new ConnectionTable((session) => parts.levelOf(session));
    this.#byKey = this.#table.connections;
  }

  get spec(): ServerSpec {
    return this.#spec;
  }

  get current(): readonly Connection[] {
    return [...this.#byKey.values()];
  }

  /** No call is on its way, and there is no connection, not even one that ends. */
  get unused(): boolean {
    return this.#reaching === 0 && this.#byKey.size === 0 && this.#retiring.size === 0;
  }

  /** The connection for this claim if calls may be sent on it now. This is the hot path. */
  open(claim: Claim): Connection | undefined {
    if (this.#needsRoots(claim.origin)) return undefined;
    const connection = this.#byKey.get(this.#keyFor(claim));
    if (!connection?.open) return undefined;
    this.#hold(connection, claim);
    return connection;
  }

  connected(origin: Origin): boolean {
    return this.#keysFor(origin).some((key) => this.#byKey.get(key)?.connected);
  }

  /** What the child said about itself to this client; undefined if it is not connected. */
  handshake(origin: Origin): HandshakeResult | undefined {
    const own = this.#keysFor(origin).map((key) => this.#byKey.get(key));
    return own.find((connection) => connection?.connected)?.handshake;
  }

  /** The keys of all instances that this client may use. */
  #keysFor(origin: Origin): readonly string[] {
    return instanceKeys(keyOf(origin, this.#spec), instancesOf(this.#spec));
  }

  #keyFor(claim: Claim): string {
    const count = instancesOf(this.#spec);
    if (count === 1) return keyOf(claim.origin, this.#spec);
    const keys = this.#keysFor(claim.origin);
    if (claim.instance === undefined || claim.instance >= count)
      claim.instance = this.#table.chooseInstance(keys, claim, () => this.#parts.pool.hasRoom);
    return keys[claim.instance] as string;
  }

  #hold(connection: Connection, claim: Claim): void {
    const { instance, beside, lists } = claim;
    // A claim that only lists, or is one of several attempts, does not move its session to this instance.
    connection.hold(claim, instance === undefined || !(lists || beside?.size));
    if (instance !== undefined) beside?.add(instance);
  }

  /**
   * Waits for a connection for this claim and opens one if there is none. All callers with the same key wait
   * for the same one.
   */
  async reach(claim: Claim, signal: Signal | undefined): Promise<Connection> {
    this.#reaching++;
    try {
      return await this.#reach(claim, signal);
    } finally {
      this.#reaching--;
    }
  }

  async #reach(claim: Claim, signal: Signal | undefined): Promise<Connection> {
    for (;;) {
      const { roots } = claim.origin;
      if (roots && this.#needsRoots(claim.origin)) await unlessAborted(roots.ask(), signal);
      // After the wait, because the child may be removed meanwhile.
      if (this.#endReason) throw this.#endReason;
      const key = this.#keyFor(claim);
      const known = this.#byKey.get(key);
      const connection = known?.usable
        ? known
        : (this.#table.takeEarly(key, claim.origin) ??
          this.#dial(key, claim.origin, {
            admitted: claim.admitted,
            roots: roots?.known,
            after: known?.end("it is replaced"),
          }));
      this.#hold(connection, claim);
      try {
        await unlessAborted(connection.ready, signal);
        if (connection.open) return connection;
      } catch (error) {
        connection.drop(claim);
        if (signal?.aborted) connection.endIfUnneeded();
        // A connection is retired when settings change. The caller then waits for one with the new settings.
        if (!connection.retired || signal?.aborted) throw error;
      }
      connection.drop(claim);
    }
  }

  /** Takes new settings. Reconnects only if they change how the child is reached. */
  apply(spec: ServerSpec): void {
    const before = this.#spec;
    this.#spec = spec;
    if (sameDial(before, spec)) {
      for (const connection of this.current) connection.adopt(spec);
      return;
    }
    this.reconnect();
  }

  /** Replaces all connections that are connected. Calls in flight finish on the old ones. */
  reconnect(): void {
    this.#health.forget();
    // Iterates over a copy, because #dial adds to the map.
    for (const [key, connection] of Array.from(this.#byKey)) {
      const { connected, inUse } = connection;
      const ended = this.#retire(key, connection);
      const { origin, roots } = connection;
      // A server that may run only once starts again when the calls of its old process have ended.
      const waits = !inUse || this.#spec.placement === "one";
      if (connected && instanceOf(key) < instancesOf(this.#spec))
        this.#dial(key, origin, { roots, after: waits ? ended : undefined });
    }
    for (const [key, audience] of this.#table.audiencesFrom(instancesOf(this.#spec)))
      for (const origin of audience.members) this.#move(origin, audience, firstKey(key));
  }

  /**
   * Finishes calls in flight and begins nothing else. Callers that wait for a connection fail with `reason`.
   */
  async remove(reason: MetaMcpError): Promise<void> {
    this.#endReason = reason;
    await Promise.all([...this.#byKey].map(([key, connection]) => this.#retire(key, connection)));
  }

  /** Ends connections that only this client used. */
  sessionEnded(session: string): void {
    for (const [key, connection] of this.#byKey) {
      const own = connection.spec.isolation === "session" && connection.origin.session === session;
      if (own) void this.#retire(key, connection);
    }
    this.#table.sessionEnded(session);
  }

  /** Number of open connections that this client uses, its own or shared. */
  heldBy(session: string): number {
    return this.#table.heldBy(session);
  }

  /** The clients that share a connection with this client, or would share it. */
  audienceOf(origin: Origin): Audience {
    const claim = claimOf({ origin, uplink: origin.uplink, repeat: "unknown" }, this.#health.current);
    const audience = this.#table.audience(this.#keyFor(claim));
    // Binds the session to the instance, so that subscribe and unsubscribe go to the same one.
    if (claim.instance !== undefined) audience.join(origin);
    return audience;
  }

  /** The client set another log level. */
  updateLogLevel(session: string): void {
    for (const [, audience] of this.#table.joinedBy(session)) audience.updateLogLevel();
  }

  /** Forwards a notification of a client on all connections that it uses. */
  notify(session: string, method: string, params: Raw | undefined): void {
    for (const [, audience] of this.#table.joinedBy(session)) audience.notify(method, params);
  }

  /**
   * The roots of this client changed. A connection that it uses alone stays and the child is notified;
   * otherwise the client moves.
   */
  rootsChanged(origin: Origin, params: Raw | undefined): void {
    const roots = origin.roots?.known;
    for (const [from, audience] of this.#table.joinedBy(origin.session)) {
      const to = instanceKey(keyOf(origin, this.#spec), instanceOf(from));
      const connection = this.#byKey.get(from);
      const alone = audience.size === 1;
      if (from === to ? alone : alone && this.#table.rekey(from, to)) {
        if (connection) connection.roots = roots;
        audience.notify("notifications/roots/list_changed", params);
      } else if (from !== to) this.#move(origin, audience, to);
    }
  }

  /**
   * Moves a client to the connection of another key. Opens that connection only if the client has
   * subscriptions.
   */
  #move(origin: Origin, from: Audience, to: string): void {
    if (this.#table.move(origin, from, to) && !this.#byKey.get(to)?.usable)
      this.#dial(to, origin, { roots: origin.roots?.known });
  }

  /**
   * The child asked for roots. From now on clients are asked for theirs first, and this connection is only
   * for clients with the same roots.
   */
  #rootsWanted(connection: Connection, roots: KnownRoots | undefined): void {
    this.#wantsRoots = true;
    if (!roots) return;
    connection.roots = roots;
    const key = this.#table.keyOf(connection);
    if (key === undefined || this.#spec.isolation === "session") return;
    const rooted = instanceKey(rootedKeyOf(connection.origin, roots), instanceOf(key));
    if (key !== rooted && !this.#table.rekey(key, rooted)) void this.#retire(key, connection);
  }

  /**
   * Whether the client must be asked for its roots before it is known which connection it may use. If asking
   * is expensive, it is asked only once the child has asked; with isolation, only when the child asks on the
   * client's own connection.
   */
  #needsRoots({ roots }: Origin): boolean {
    if (roots === undefined || roots.known !== undefined) return false;
    return !roots.expensiveToAsk || (this.#wantsRoots && this.#spec.isolation !== "session");
  }

  async destroy(reason: string): Promise<void> {
    this.#endReason = new MetaMcpError("server_unavailable", `${reason}.`, { retryable: false });
    await Promise.all(
      [...this.#byKey.values(), ...this.#retiring].map((connection) => connection.end(reason)),
    );
  }

  /** Takes no further calls on this connection. Its calls in flight finish. */
  retire(connection: Connection): void {
    for (const [key, current] of this.#byKey) if (current === connection) void this.#retire(key, connection);
  }

  #retire(key: string, connection: Connection): Promise<void> {
    this.#byKey.delete(key);
    this.#retiring.add(connection);
    const ended = connection.retire();
    void ended.finally(() => this.#retiring.delete(connection));
    return ended;
  }

  /** Opens a new connection in place of a lost one for which no call is sent again. */
  #restart(lost: Connection): void {
    const key = this.#table.keyOf(lost);
    // Without a key it is replaced already, or has old settings.
    if (key === undefined || this.#endReason) return;
    this.#dial(key, lost.origin, { roots: lost.roots, after: lost.end("it is replaced") });
  }

  #dial(
    key: string,
    origin: Origin,
    how: { roots: KnownRoots | undefined; admitted?: Breaker; after?: Promise<void> | undefined },
  ): Connection {
    const { pool, clock, log, events } = this.#parts;
    const spec = this.#spec;
    const server = idOf(spec);
    const restart = this.losses.takeRestart();
    const source: ListSource = { server, key: listKeyOf(origin, spec.credential) };
    const ask: Ask = (method, params) => connection.ask(method, params);
    const connection: Connection = new Connection({
      spec,
      origin,
      pool,
      clock,
      log,
      roots: how.roots,
      after: how.after,
      audience: this.#table.audience(key),
      connector: () => this.#parts.connector(spec),
      era: () => this.#parts.eraOf(server),
      onHandshake: (handshake) => this.#parts.onHandshake(source, handshake, ask),
      onLost: (loss) => {
        // Later, because only then the end of the lost connection is known.
        if (this.losses.connectionLost(connection, loss)) queueMicrotask(() => this.#restart(connection));
      },
      onMoved: () => this.retire(connection),
      onListChanged: (method) => {
        // A connection with old settings does not describe the current server.
        if (!connection.retired) this.#parts.onListChanged(source, method, ask);
      },
      onRootsWanted: (roots) => this.#rootsWanted(connection, roots),
      report: connectionReporter({ events, clock, server, restart }),
    });
    this.losses.opening(connection);
    this.#byKey.set(key, connection);
    connection.ready.then(
      () => this.losses.connected(connection),
      (error: unknown) => this.losses.connectFailed(connection, error, how.admitted),
    );
    return connection;
  }
}

/** A `KnownRoots` object is the answer of one client, so it determines the capabilities too. */
const rooted = new WeakMap<KnownRoots, string>();

/** With isolation each session has its own key. Runs for every call. */
function keyOf(origin: Origin, { isolation }: ServerSpec): string {
  if (isolation === "session") return origin.session;
  const roots = origin.roots?.known;
  return roots ? rootedKeyOf(origin, roots) : listKeyOf(origin);
}

/** The key of a client with these roots. */
function rootedKeyOf(origin: Pick<Origin, "capabilities">, roots: KnownRoots): string {
  let key = rooted.get(roots);
  if (key === undefined) {
    key = `${listKeyOf(origin)} ${roots.key}`;
    rooted.set(roots, key);
  }
  return key;
}
