/** One configured server: its connections and how a call finds its way over them, also when one dies under it. */
import { sameDial } from "../config/identity.ts";
import type { ServerSpec } from "../config/spec.ts";
import type { Call, Origin } from "../kernel/call.ts";
import type { Clock } from "../kernel/clock.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import type { Log } from "../kernel/log.ts";
import { EMPTY_OBJECT, type Raw, toRaw } from "../kernel/raw.ts";
import { RpcError } from "../rpc/rpc-error.ts";
import { members, withMember } from "../rpc/slice.ts";
import type { Breaker, BreakerOptions } from "./breaker.ts";
import { CallTimer } from "./call-timer.ts";
import type { Claim } from "./claim.ts";
import { type Ask, Connection, type Loss } from "./connection.ts";
import { explain } from "./explain.ts";
import type { Greeting } from "./handshake.ts";
import { type Death, Health } from "./health.ts";
import { ChildFailure, type Connector } from "./link.ts";
import { isAlive } from "./liveness.ts";
import type { Pool } from "./pool.ts";
import { type ChildStatus, statusOf } from "./status.ts";

export interface ChildParts {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly log: Log;
  readonly breaker: () => BreakerOptions;
  connector(spec: ServerSpec): Promise<Connector>;
  /** A connection stands; calls wait until this is done. */
  greet(server: string, greeting: Greeting, ask: Ask): Promise<void>;
  /** A notification that belongs to no call. */
  onNotification(server: string, method: string, ask: Ask): void;
}

export class Child {
  readonly #parts: ChildParts;
  readonly #health: Health;
  readonly #connections = new Map<string, Connection>();
  /** Settings changed under them: they finish what they carry. */
  readonly #retiring = new Set<Connection>();
  /** By the connection that replaces the dead one. */
  readonly #respawns = new WeakMap<Connection, Death>();
  #lastDeath: Death | undefined;
  #spec: ServerSpec;
  #gone = false;

  constructor(spec: ServerSpec, parts: ChildParts) {
    this.#spec = spec;
    this.#parts = parts;
    this.#health = new Health(parts.breaker);
  }

  get spec(): ServerSpec {
    return this.#spec;
  }

  get inFlight(): number {
    return [...this.#connections.values(), ...this.#retiring].reduce(
      (sum, connection) => sum + connection.inFlight,
      0,
    );
  }

  status(): ChildStatus {
    return statusOf(this.#spec, [...this.#connections.values()], this.#health, this.#parts.clock.now());
  }

  /** The verb: sends a call to the child and gives its result as written. */
  async handle(call: Call): Promise<Raw> {
    const { clock } = this.#parts;
    const claim = claimOf(call, this.#health.admit(this.#spec.name, clock.now()));
    const deadline = Math.min(call.deadline, clock.now() + this.#spec.deadlineMs);
    try {
      for (;;) {
        const connection = await this.#reach(claim, call.signal);
        try {
          const result = await this.#send(connection, call, claim, deadline);
          this.#answered(claim);
          return claim.sent > 0 ? withAttempts(result, claim.sent + 1) : result;
        } catch (error) {
          if (error instanceof RpcError) this.#answered(claim);
          if (!this.#goesOn(connection, claim, error)) throw error;
        }
      }
    } catch (error) {
      this.#health.tell(claim.death, "silent", claim.admitted, clock.now());
      if (!(error instanceof RpcError) && !isTimeout(error))
        this.#health.settle(claim.admitted, "unknown", clock.now());
      throw explain(error, call, this.#spec);
    }
  }

  /** Connects and lists, for discovery. As a probe its success closes the breaker; else it says nothing about callers. */
  async connect(origin: Origin): Promise<void> {
    const { clock } = this.#parts;
    const admitted = this.#health.admit(this.#spec.name, clock.now());
    const claim: Claim = { ...claimOf({ origin, uplink: origin.uplink, repeat: "unknown" }, admitted) };
    try {
      const connection = await this.#reach(claim, undefined);
      connection.drop(claim);
      this.#health.settle(admitted, admitted.phase === "half-open" ? "healthy" : "unknown", clock.now());
    } catch (error) {
      this.#health.settle(admitted, "unknown", clock.now());
      throw explain(error, { server: this.#spec.name, repeat: "safe" }, this.#spec);
    }
  }

  /** Takes new settings. Only those that change how it is dialled touch its connections. */
  apply(spec: ServerSpec): void {
    const before = this.#spec;
    this.#spec = spec;
    if (sameDial(before, spec)) return;
    this.#health.forget();
    for (const [key, connection] of this.#connections) {
      const { connected, inFlight } = connection;
      const ended = this.#retire(key, connection);
      if (connected) this.#open(key, connection.origin, { after: inFlight > 0 ? undefined : ended });
    }
  }

  /** It is configured no longer: calls under way finish, nothing else begins. */
  async remove(): Promise<void> {
    this.#gone = true;
    await Promise.all([...this.#connections].map(([key, connection]) => this.#retire(key, connection)));
  }

  /** A client is gone: connections that were its own end. */
  sessionEnded(session: string): void {
    for (const [key, connection] of this.#connections) {
      if (connection.spec.isolation === "session" && connection.origin.session === session)
        void this.#retire(key, connection);
    }
  }

  async destroy(reason: string): Promise<void> {
    this.#gone = true;
    await Promise.all(
      [...this.#connections.values(), ...this.#retiring].map((connection) => connection.end(reason)),
    );
  }

  #retire(key: string, connection: Connection): Promise<void> {
    this.#connections.delete(key);
    this.#retiring.add(connection);
    const ended = connection.retire();
    void ended.finally(() => this.#retiring.delete(connection));
    return ended;
  }

  /** A connection that is ready for this claim, opened if need be. Whoever comes meanwhile waits for the same one. */
  async #reach(claim: Claim, signal: AbortSignal | undefined): Promise<Connection> {
    for (;;) {
      if (this.#gone) throw new MetaMcpError("server_not_found", `Server "${this.#spec.name}" was removed.`);
      const key = keyOf(claim.origin, this.#spec);
      const known = this.#connections.get(key);
      const connection = known?.usable ? known : this.#open(key, claim.origin, { admitted: claim.admitted });
      connection.hold(claim);
      if (connection.open) return connection;
      try {
        await unlessAborted(connection.ready, signal);
        if (connection.open) return connection;
      } catch (error) {
        connection.drop(claim);
        // Settings changed while it was connecting: the caller goes on with the new ones.
        if (!connection.retired || signal?.aborted) throw error;
      }
      connection.drop(claim);
    }
  }

  #open(
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
      connector: () => this.#parts.connector(spec),
      greet: (from, greeting) =>
        this.#parts.greet(name, greeting, (method, params) => from.ask(method, params)),
      onLost: (lost, loss) => this.#lost(key, lost, loss),
      onNotification: (from, method) =>
        this.#parts.onNotification(name, method, (...ask) => from.ask(...ask)),
    });
    if (death) this.#respawns.set(connection, death);
    this.#connections.set(key, connection);
    connection.ready.catch((error: unknown) => this.#connectFailed(connection, error, how.admitted));
    return connection;
  }

  /** Counts once, however many callers waited for it. */
  #connectFailed(connection: Connection, error: unknown, admitted: Breaker | undefined): void {
    if (connection.retired || !(error instanceof ChildFailure)) return;
    const { clock, log } = this.#parts;
    if (error.category === "auth") {
      this.#health.noted(error.message);
      log.warn(`${connection.label}: not authorised: ${error.message}`, { server: connection.label });
      return;
    }
    log.warn(`${connection.label}: cannot connect: ${error.message}`, {
      server: connection.label,
      category: error.category,
    });
    const death = this.#respawns.get(connection);
    const by = admitted ?? this.#health.current;
    if (death?.episode.open) this.#health.tell(death, "failed", by, clock.now());
    else this.#health.failed(by, error.message, clock.now());
  }

  #lost(key: string, connection: Connection, { failure, counted }: Loss): void {
    const { clock, log } = this.#parts;
    const claims = [...connection.claims()];
    if (connection.state === "closed") {
      if (this.#connections.get(key) === connection) this.#connections.delete(key);
      log.info(`${connection.label}: went away while idle: ${failure.message}`, { server: connection.label });
      return;
    }
    log.warn(`${connection.label}: lost: ${failure.message}`, {
      server: connection.label,
      calls: claims.length,
    });
    const before = this.#respawns.get(connection);
    this.#lastDeath = this.#health.lost(connection.spec, {
      claims,
      failure,
      counted,
      before,
      now: clock.now(),
    });
  }

  async #send(connection: Connection, call: Call, claim: Claim, deadline: number): Promise<Raw> {
    claim.id = undefined;
    claim.again = false;
    claim.tries++;
    claim.timer = new CallTimer(
      this.#parts.clock,
      { silenceMs: connection.spec.timeoutMs, deadline },
      (silentMs) => {
        connection.cancel(claim, timeoutOf(call, connection.spec, silentMs));
        void this.#checkAlive(connection, claim);
      },
    );
    try {
      return await connection.request(claim, call.method, call.params, call.signal);
    } finally {
      claim.timer.stop();
      connection.drop(claim);
    }
  }

  #answered(claim: Claim): void {
    const now = this.#parts.clock.now();
    this.#health.settle(claim.admitted, "healthy", now);
    this.#health.tell(claim.death, "cured", claim.admitted, now);
    claim.death = undefined;
  }

  /** Whether the call gets another attempt. Only the loss of its connection leads to one. */
  #goesOn(connection: Connection, claim: Claim, error: unknown): boolean {
    if (!(error instanceof ChildFailure)) return false;
    if (connection.state === "failed") return claim.again;
    // The link lives and one request failed on it: HTTP.
    if (error.category === "auth") return false;
    const { clock } = this.#parts;
    if (error.category === "offline") {
      this.#lastDeath = this.#health.lost(connection.spec, {
        claims: [claim],
        failure: error,
        counted: false,
        before: undefined,
        now: clock.now(),
      });
      return claim.again;
    }
    this.#health.failed(claim.admitted, error.message, clock.now());
    return false;
  }

  /** A call timed out: slow is no failure, dead is one. Settles what the call left open. */
  async #checkAlive(connection: Connection, claim: Claim): Promise<void> {
    const { clock } = this.#parts;
    if (await isAlive(connection, clock)) {
      this.#health.settle(claim.admitted, "unknown", clock.now());
      return;
    }
    if (!connection.connected) {
      this.#health.settle(claim.admitted, "unknown", clock.now());
      return;
    }
    const failure = new ChildFailure("offline", "it does not answer any more, not even a ping");
    this.#health.failed(claim.admitted, failure.message, clock.now());
    connection.giveUp(failure);
  }
}

function claimOf(
  { origin, uplink, repeat }: Pick<Call, "origin" | "uplink" | "repeat">,
  admitted: Breaker,
): Claim {
  return {
    origin,
    uplink,
    repeat,
    admitted,
    id: undefined,
    timer: undefined,
    tries: 0,
    sent: 0,
    death: undefined,
    again: false,
  };
}

function keyOf(origin: Origin, spec: ServerSpec): string {
  return `${spec.isolation === "session" ? origin.session : ""} ${origin.capabilities.toString("latin1")}`;
}

function isTimeout(error: unknown): boolean {
  return MetaMcpError.is(error) && error.code === "timeout";
}

function timeoutOf(call: Call, spec: ServerSpec, silentMs: number): MetaMcpError {
  const limit =
    silentMs >= spec.timeoutMs
      ? `was silent for ${spec.timeoutMs} ms (timeoutMs)`
      : `took longer than it may in all (deadlineMs ${spec.deadlineMs})`;
  return new MetaMcpError(
    "timeout",
    `${spec.name} ${limit}; the call was cancelled there. It may still have had effects.`,
    { server: call.server, retryable: call.repeat === "safe" },
  );
}

/** `_meta["metamcp/attempts"]`: the child may have seen this call before. */
function withAttempts(result: Raw, attempts: number): Raw {
  const [meta] = members(result, ["_meta"]);
  return withMember(result, "_meta", withMember(meta ?? EMPTY_OBJECT, "metamcp/attempts", toRaw(attempts)));
}

async function unlessAborted(work: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (!signal) return await work;
  let stop: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason as Error);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
  try {
    await Promise.race([work, aborted]);
  } finally {
    if (stop) signal.removeEventListener("abort", stop);
  }
}
