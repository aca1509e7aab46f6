/** The connections of one child: at most one for callers who agree, opened once however many wait for it. */
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
import { keyOf, rootedKeyOf } from "./connection-key.ts";
import type { Ask } from "./connection-parts.ts";
import type { Health } from "./health.ts";
import { firstKey, instanceKey, instanceKeys, instanceOf, instancesOf } from "./instance.ts";
import { Losses } from "./losses.ts";
import { Sharing } from "./sharing.ts";

export class Connections {
  readonly losses: Losses;
  readonly #parts: ChildParts;
  readonly #health: Health;
  readonly #sharing: Sharing;
  readonly #byKey: Map<string, Connection>;
  /** Settings changed under them: they finish what they carry. */
  readonly #retiring = new Set<Connection>();
  /** The child has asked for roots: it does so whoever calls. */
  #wantsRoots = false;
  #spec: ServerSpec;
  /** Why nothing begins any more. */
  #over: MetaMcpError | undefined;

  constructor(spec: ServerSpec, parts: ChildParts, health: Health) {
    this.#spec = spec;
    this.#parts = parts;
    this.#health = health;
    this.losses = new Losses(health, parts);
    this.#sharing = new Sharing((session) => parts.levelOf(session));
    this.#byKey = this.#sharing.connections;
  }

  get spec(): ServerSpec {
    return this.#spec;
  }

  get current(): readonly Connection[] {
    return [...this.#byKey.values()];
  }

  /** The connection for this claim if it can be used at once: the hot path. */
  open(claim: Claim): Connection | undefined {
    if (this.#asksFirst(claim.origin)) return undefined;
    const connection = this.#byKey.get(this.#keyFor(claim));
    if (!connection?.open) return undefined;
    this.#hold(connection, claim);
    return connection;
  }

  connected(origin: Origin): boolean {
    return this.#keysFor(origin).some((key) => this.#byKey.get(key)?.connected);
  }

  /** One key for each instance that callers like this one may use. */
  #keysFor(origin: Origin): readonly string[] {
    return instanceKeys(keyOf(origin, this.#spec), instancesOf(this.#spec));
  }

  #keyFor(claim: Claim): string {
    const count = instancesOf(this.#spec);
    if (count === 1) return keyOf(claim.origin, this.#spec);
    const keys = this.#keysFor(claim.origin);
    if (claim.instance === undefined || claim.instance >= count)
      claim.instance = this.#sharing.place(keys, claim, () => this.#parts.pool.hasRoom);
    return keys[claim.instance] as string;
  }

  #hold(connection: Connection, claim: Claim): void {
    const { instance, beside, lists } = claim;
    // Who only looks in, or makes a second attempt, stays where it was.
    connection.hold(claim, instance === undefined || !(lists || beside?.size));
    if (instance !== undefined) beside?.add(instance);
  }

  /** A connection that is ready for this claim, opened if need be. Whoever comes meanwhile waits for the same one. */
  async reach(claim: Claim, signal: Signal | undefined): Promise<Connection> {
    for (;;) {
      if (this.#over) throw this.#over;
      const { roots } = claim.origin;
      if (roots && this.#asksFirst(claim.origin)) await unlessAborted(roots.ask(), signal);
      const key = this.#keyFor(claim);
      const known = this.#byKey.get(key);
      const connection = known?.usable
        ? known
        : (this.#sharing.openedEarly(key, claim.origin) ??
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
        if (signal?.aborted) connection.forsake();
        // Settings changed while it was connecting: the caller goes on with the new ones.
        if (!connection.retired || signal?.aborted) throw error;
      }
      connection.drop(claim);
    }
  }

  /** Takes new settings. Only those that change how it is dialled touch a connection. */
  apply(spec: ServerSpec): void {
    const before = this.#spec;
    this.#spec = spec;
    if (sameDial(before, spec)) {
      for (const connection of this.current) connection.adopt(spec);
      return;
    }
    this.renew();
  }

  /** Dials anew for everyone who is connected. Calls under way finish on the old connections. */
  renew(): void {
    this.#health.forget();
    // A copy: what is dialled anew must not come round again.
    for (const [key, connection] of Array.from(this.#byKey)) {
      const { connected, inFlight } = connection;
      const ended = this.#retire(key, connection);
      const { origin, roots } = connection;
      if (connected && instanceOf(key) < instancesOf(this.#spec))
        this.#dial(key, origin, { roots, after: inFlight > 0 ? undefined : ended });
    }
    for (const [key, audience] of this.#sharing.beyond(instancesOf(this.#spec)))
      for (const origin of audience.members) this.#move(origin, audience, firstKey(key));
  }

  /** Finishes calls in flight and begins nothing else. Callers that wait for a connection fail with `reason`. */
  async remove(reason: MetaMcpError): Promise<void> {
    this.#over = reason;
    await Promise.all([...this.#byKey].map(([key, connection]) => this.#retire(key, connection)));
  }

  /** A client is gone: connections that were its own end. */
  sessionEnded(session: string): void {
    for (const [key, connection] of this.#byKey) {
      const own = connection.spec.isolation === "session" && connection.origin.session === session;
      if (own) void this.#retire(key, connection);
    }
    this.#sharing.sessionEnded(session);
  }

  /** How many open ones this client uses, its own or shared. */
  heldBy(session: string): number {
    return this.#sharing.heldBy(session);
  }

  /** Those with whom this client shares, or would share, a connection. */
  audienceOf(origin: Origin): Audience {
    const claim = claimOf({ origin, uplink: origin.uplink, repeat: "unknown" }, this.#health.current);
    const audience = this.#sharing.audience(this.#keyFor(claim));
    // Whatever is done about what it subscribes to is done where it stays.
    if (claim.instance !== undefined) audience.join(origin);
    return audience;
  }

  /** A client wants other log messages. */
  relevel(session: string): void {
    for (const [, audience] of this.#sharing.heardBy(session)) audience.relevel();
  }

  /** Passes a notification of a client on to where it has a connection. */
  notify(session: string, method: string, params: Raw | undefined): void {
    for (const [, audience] of this.#sharing.heardBy(session)) audience.notify(method, params);
  }

  /**
   * The roots of this client are others now. Where it is alone, its connection stays its own and the child hears of it;
   * else it goes on at another one.
   */
  rootsChanged(origin: Origin, params: Raw | undefined): void {
    const roots = origin.roots?.known;
    for (const [from, audience] of this.#sharing.heardBy(origin.session)) {
      const to = instanceKey(keyOf(origin, this.#spec), instanceOf(from));
      const connection = this.#byKey.get(from);
      const alone = audience.size === 1;
      if (from === to ? alone : alone && this.#sharing.rekey(from, to)) {
        if (connection) connection.roots = roots;
        audience.notify("notifications/roots/list_changed", params);
      } else if (from !== to) this.#move(origin, audience, to);
    }
  }

  /** What it subscribed to goes on at the other connection, which is made where there is none. */
  #move(origin: Origin, from: Audience, to: string): void {
    if (this.#sharing.move(origin, from, to) && !this.#byKey.get(to)?.usable)
      this.#dial(to, origin, { roots: origin.roots?.known });
  }

  /** From now on clients are asked for their roots first. A connection that was told some is for those who have the same. */
  #rootsWanted(connection: Connection, roots: KnownRoots | undefined): void {
    this.#wantsRoots = true;
    if (!roots) return;
    connection.roots = roots;
    const key = this.#sharing.keyOf(connection);
    if (key === undefined || this.#spec.isolation === "session") return;
    const rooted = instanceKey(rootedKeyOf(connection.origin, roots), instanceOf(key));
    if (key !== rooted && !this.#sharing.rekey(key, rooted)) void this.#retire(key, connection);
  }

  /** What its roots are decides which connection it may use. One with a connection of its own is asked when the child asks. */
  #asksFirst({ roots }: Origin): boolean {
    if (roots === undefined || roots.known !== undefined) return false;
    return !roots.costly || (this.#wantsRoots && this.#spec.isolation !== "session");
  }

  async destroy(reason: string): Promise<void> {
    this.#over = new MetaMcpError("server_unavailable", `${reason}.`, { retryable: false });
    await Promise.all(
      [...this.#byKey.values(), ...this.#retiring].map((connection) => connection.end(reason)),
    );
  }

  /** It is good for what it carries, and for nothing else. */
  replace(connection: Connection): void {
    for (const [key, current] of this.#byKey) if (current === connection) void this.#retire(key, connection);
  }

  #retire(key: string, connection: Connection): Promise<void> {
    this.#byKey.delete(key);
    this.#retiring.add(connection);
    const ended = connection.retire();
    void ended.finally(() => this.#retiring.delete(connection));
    return ended;
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
      audience: this.#sharing.audience(key),
      connector: () => this.#parts.connector(spec),
      era: () => this.#parts.eraOf(server),
      greet: (greeting) => this.#parts.greet(source, greeting, ask),
      onLost: (loss) => this.losses.connectionLost(connection, loss),
      onListChanged: (method) => {
        // What a connection with old settings says is no longer true of this server.
        if (!connection.retired) this.#parts.onListChanged(source, method, ask);
      },
      onRootsWanted: (roots) => this.#rootsWanted(connection, roots),
      report: connectionReporter({ events, clock, server, restart }),
    });
    this.losses.opening(connection);
    this.#byKey.set(key, connection);
    connection.ready.catch((error: unknown) => this.losses.connectFailed(connection, error, how.admitted));
    return connection;
  }
}
