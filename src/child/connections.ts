/** The connections of one child: at most one for callers who agree, opened once however many wait for it. */
import { sameDial } from "../config/identity.ts";
import type { ServerSpec } from "../config/spec.ts";
import type { Origin } from "../kernel/call.ts";
import type { Clock } from "../kernel/clock.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import type { Log } from "../kernel/log.ts";
import type { Raw } from "../kernel/raw.ts";
import type { Severity } from "../kernel/severity.ts";
import type { Signal } from "../kernel/signal.ts";
import { Audience } from "./audience.ts";
import type { Breaker, BreakerOptions } from "./breaker.ts";
import type { Claim, Death } from "./claim.ts";
import { type Ask, Connection, type Loss } from "./connection.ts";
import { toBeLetIn } from "./explain.ts";
import type { Greeting } from "./handshake.ts";
import type { Health } from "./health.ts";
import { ChildFailure, type Connector } from "./link.ts";
import type { Pool } from "./pool.ts";

export interface ChildParts {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly log: Log;
  readonly breaker: () => BreakerOptions;
  connector(spec: ServerSpec): Promise<Connector>;
  /** Which era a server spoke when it was last met, if that is known. */
  eraOf(server: string): string | undefined;
  /** A connection stands; calls wait until this is done. */
  greet(server: string, greeting: Greeting, ask: Ask): Promise<void>;
  /** One of a child's lists changed: it said so by this method. */
  onListChanged(server: string, method: string, ask: Ask): void;
  /** From which severity on a session wants log messages, if it said so. */
  levelOf(session: string): Severity | undefined;
}

export class Connections {
  readonly #parts: ChildParts;
  readonly #health: Health;
  readonly #byKey = new Map<string, Connection>();
  /** They outlive the connections they listen to. */
  readonly #audiences = new Map<string, Audience>();
  /** Settings changed under them: they finish what they carry. */
  readonly #retiring = new Set<Connection>();
  /** The death that a connection is the respawn after. */
  readonly #respawnOf = new WeakMap<Connection, Death>();
  #lastDeath: Death | undefined;
  #spec: ServerSpec;
  /** Why nothing begins any more. */
  #over: MetaMcpError | undefined;

  constructor(spec: ServerSpec, parts: ChildParts, health: Health) {
    this.#spec = spec;
    this.#parts = parts;
    this.#health = health;
  }

  get spec(): ServerSpec {
    return this.#spec;
  }

  get current(): readonly Connection[] {
    return [...this.#byKey.values()];
  }

  /** The connection for this claim if it can be used at once: the hot path. */
  open(claim: Claim): Connection | undefined {
    const connection = this.#byKey.get(keyOf(claim.origin, this.#spec));
    if (!connection?.open) return undefined;
    connection.hold(claim);
    return connection;
  }

  /** A connection that is ready for this claim, opened if need be. Whoever comes meanwhile waits for the same one. */
  async reach(claim: Claim, signal: Signal | undefined): Promise<Connection> {
    for (;;) {
      if (this.#over) throw this.#over;
      const key = keyOf(claim.origin, this.#spec);
      const known = this.#byKey.get(key);
      const connection = known?.usable
        ? known
        : this.#dial(key, claim.origin, {
            admitted: claim.admitted,
            after: known?.end("it is replaced"),
          });
      connection.hold(claim);
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
    this.#health.forget();
    // A copy: what is dialled anew must not come round again.
    for (const [key, connection] of Array.from(this.#byKey)) {
      const { connected, inFlight } = connection;
      const ended = this.#retire(key, connection);
      if (connected) this.#dial(key, connection.origin, { after: inFlight > 0 ? undefined : ended });
    }
  }

  /** The server is configured no longer: calls under way finish, nothing else begins. */
  async remove(): Promise<void> {
    this.#over = new MetaMcpError("server_not_found", `Server "${this.#spec.name}" was removed.`);
    await Promise.all([...this.#byKey].map(([key, connection]) => this.#retire(key, connection)));
  }

  /** A client is gone: connections that were its own end. */
  sessionEnded(session: string): void {
    for (const [key, connection] of this.#byKey) {
      const own = connection.spec.isolation === "session" && connection.origin.session === session;
      if (own) void this.#retire(key, connection);
    }
    for (const [key, audience] of this.#audiences) {
      audience.leave(session);
      if (audience.empty && !this.#byKey.has(key)) this.#audiences.delete(key);
    }
  }

  /** Those with whom this client shares, or would share, a connection. */
  audienceOf(origin: Origin): Audience {
    return this.#audience(keyOf(origin, this.#spec));
  }

  /** A client wants other log messages. */
  relevel(session: string): void {
    for (const audience of this.#audiences.values()) if (audience.has(session)) audience.relevel();
  }

  /** Passes a notification of a client on to where it has a connection. */
  notify(session: string, method: string, params: Raw | undefined): void {
    for (const audience of this.#audiences.values())
      if (audience.has(session)) audience.notify(method, params);
  }

  async destroy(reason: string): Promise<void> {
    this.#over = new MetaMcpError("server_unavailable", `${reason}.`, { retryable: false });
    await Promise.all(
      [...this.#byKey.values(), ...this.#retiring].map((connection) => connection.end(reason)),
    );
  }

  /** A request on a link that lives on was lost like a connection: the retry rule decides about its caller. */
  lostOne(connection: Connection, claim: Claim, failure: ChildFailure): void {
    if (claim.risk) {
      this.#health.lostToo(connection.spec, claim, { death: claim.risk, failure });
      return;
    }
    const death = this.#die(connection, [claim], { failure, counted: false });
    for (const other of connection.claims()) if (other !== claim) other.risk ??= death;
  }

  /** It is good for what it carries, and for nothing else. */
  replace(connection: Connection): void {
    for (const [key, current] of this.#byKey) if (current === connection) void this.#retire(key, connection);
  }

  /** Says nothing about the child's health, but someone must act. */
  unauthorised({ label, spec }: Connection, failure: ChildFailure): void {
    const why = toBeLetIn(failure, spec);
    this.#health.noted(`auth_required: ${why}`);
    this.#parts.log.warn(`${label}: not authorised: ${why}`, { server: label });
  }

  #audience(key: string): Audience {
    let audience = this.#audiences.get(key);
    if (!audience) {
      audience = new Audience((session) => this.#parts.levelOf(session));
      this.#audiences.set(key, audience);
    }
    return audience;
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
    how: { admitted?: Breaker; after?: Promise<void> | undefined },
  ): Connection {
    const { pool, clock, log } = this.#parts;
    const spec = this.#spec;
    const { name } = spec;
    const death = this.#lastDeath?.episode.open ? this.#lastDeath : undefined;
    const connection: Connection = new Connection({
      spec,
      origin,
      pool,
      clock,
      log,
      after: how.after,
      audience: this.#audience(key),
      connector: () => this.#parts.connector(spec),
      era: () => this.#parts.eraOf(name),
      greet: (from, greeting) =>
        this.#parts.greet(name, greeting, (method, params) => from.ask(method, params)),
      onLost: (lost, loss) => this.#lost(lost, loss),
      onListChanged: (from, method) => {
        // What a connection with old settings says is no longer true of this server.
        if (!from.retired) this.#parts.onListChanged(name, method, (...ask) => from.ask(...ask));
      },
    });
    if (death) this.#respawnOf.set(connection, death);
    this.#byKey.set(key, connection);
    connection.ready.catch((error: unknown) => this.#connectFailed(connection, error, how.admitted));
    return connection;
  }

  /** Counts once, however many callers waited for it. */
  #connectFailed(connection: Connection, error: unknown, admitted: Breaker | undefined): void {
    // Closed: ended by us, or there was no place for it.
    if (connection.state === "closed" || !(error instanceof ChildFailure)) return;
    const { clock, log } = this.#parts;
    if (error.category === "auth") {
      this.unauthorised(connection, error);
      return;
    }
    log.warn(`${connection.label}: cannot connect: ${error.message}`, {
      server: connection.label,
      category: error.category,
    });
    const death = this.#respawnOf.get(connection);
    const by = admitted ?? this.#health.current;
    if (death?.episode.open) this.#health.tell(death, "failed", by, clock.now());
    else this.#health.failed(by, error.message, clock.now());
  }

  #lost(connection: Connection, loss: Loss): void {
    const { log } = this.#parts;
    const server = connection.label;
    if (connection.state === "closed") {
      log.info(`${server}: went away while idle: ${loss.failure.message}`, { server });
      return;
    }
    const claims = [...connection.claims()];
    log.warn(`${server}: lost: ${loss.failure.message}`, { server, calls: claims.length });
    this.#die(connection, claims, loss);
  }

  #die(connection: Connection, claims: readonly Claim[], loss: Loss): Death {
    const before = this.#respawnOf.get(connection);
    const now = this.#parts.clock.now();
    this.#lastDeath = this.#health.lost(connection.spec, { ...loss, claims, before, now });
    return this.#lastDeath;
  }
}

const keys = new WeakMap<Origin, string>();

/** Who may share a connection: same capabilities, and with isolation the same session. */
function keyOf(origin: Origin, spec: ServerSpec): string {
  if (spec.isolation === "session") return origin.session;
  let key = keys.get(origin);
  if (key === undefined) {
    key = origin.capabilities.toString("latin1");
    keys.set(origin, key);
  }
  return key;
}

async function unlessAborted(work: Promise<void>, signal: Signal | undefined): Promise<void> {
  if (!signal) return await work;
  let stop: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason as Error);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop);
  });
  try {
    await Promise.race([work, aborted]);
  } finally {
    if (stop) signal.removeEventListener("abort", stop);
  }
}
