/** One configured server: sends calls over its connections, and retries a call whose connection is lost. */
import { idOf } from "../config/identity.ts";
import type { ServerSpec } from "../config/spec.ts";
import { Alarm } from "../kernel/alarm.ts";
import type { Call, Lease, Origin } from "../kernel/call.ts";
import { CallTimer } from "../kernel/call-timer.ts";
import type { Clock } from "../kernel/clock.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import { EMPTY_OBJECT, fromRaw, type Raw, toRaw } from "../kernel/raw.ts";
import { RESTARTED, type Restarted } from "../kernel/restarted.ts";
import type { ServerStatus } from "../kernel/server-status.ts";
import { CallSignal, type Signal } from "../kernel/signal.ts";
import { RpcError } from "../rpc/rpc-error.ts";
import { member, withMember } from "../rpc/slice.ts";
import type { Breaker } from "./breaker.ts";
import type { ChildParts } from "./child-parts.ts";
import { type Claim, type Crash, claimOf, timesSent } from "./claim.ts";
import type { Connection } from "./connection.ts";
import { Connections } from "./connections.ts";
import { callError, callTimeout, connectedTooLate, type FailedCall } from "./failure-text.ts";
import { Health } from "./health.ts";
import { type Category, ChildFailure } from "./link.ts";
import { type CallOutcome, MAX_TRIES } from "./retry.ts";
import { statusOf } from "./status.ts";

/** The longest that the timer of a call is paused while its client is asked something. */
const MAX_PAUSE_MS = 600_000;

const LISTS_LOOK_MS = 10;
/** For failures of a connect that is not made for one call. */
const NOTHING_SENT = { repeat: "safe", unsent: true, attempts: 0 } as const;

export class Child {
  readonly connections: Connections;
  readonly #parts: ChildParts;
  readonly #health: Health;
  readonly #alarm: Alarm;

  constructor(spec: ServerSpec, parts: ChildParts) {
    this.#parts = parts;
    this.#alarm = new Alarm(parts.clock);
    const { events } = parts;
    this.#health = new Health(parts.breaker, (state) => {
      if (events?.hasListeners) events.emit({ type: "breaker", at: Date.now(), server: idOf(spec), state });
    });
    this.connections = new Connections(spec, parts, this.#health);
  }

  status(): ServerStatus {
    const { spec, current } = this.connections;
    return statusOf(spec, current, this.#health, this.#parts.clock.now());
  }

  get breaker(): Breaker {
    return this.#health.current;
  }

  /** Sends a call to the child and returns its result as written. */
  handle(call: Call): Promise<Raw> {
    if (call.method === "resources/subscribe") return this.#subscribe(call);
    if (call.method === "resources/unsubscribe") return this.#unsubscribe(call);
    return this.#call(call);
  }

  /** Sent once for all clients that share a connection. Updates go to the uplink of this call. */
  async #subscribe(call: Call): Promise<Raw> {
    const { session } = call.origin;
    const audience = this.connections.audienceOf(call.origin);
    const uri = uriOf(call.params);
    const known = audience.connected && audience.subscriptions.has(uri);
    audience.subscriptions.add(uri, session, call.uplink);
    try {
      const result = known ? EMPTY_OBJECT : await this.#call(call);
      audience.subscriptions.confirm(uri, session);
      return result;
    } catch (error) {
      audience.subscriptions.remove(uri, session);
      throw error;
    }
  }

  /** Sent once no client is subscribed. A child that is not connected is not started for it. */
  async #unsubscribe(call: Call): Promise<Raw> {
    const audience = this.connections.audienceOf(call.origin);
    const uri = uriOf(call.params);
    audience.subscriptions.remove(uri, call.origin.session);
    return audience.connected && !audience.subscriptions.has(uri) ? await this.#call(call) : EMPTY_OBJECT;
  }

  async #call(call: Call): Promise<Raw> {
    const { clock } = this.#parts;
    const { spec } = this.connections;
    const now = clock.now();
    const claim = claimOf(call, this.#health.admit(spec.name, now));
    const deadline = Math.min(call.deadline, now + spec.deadlineMs);
    try {
      for (;;) {
        const connection = this.connections.open(claim) ?? (await this.#reach(claim, deadline, call.signal));
        let answered = false;
        try {
          const result = await this.#send(connection, call, claim, deadline);
          answered = true;
          this.#answered(claim);
          if (call.trail && claim.tries > 1) call.trail.attempts = claim.tries;
          const restarted = connection.takeRestart(call.origin);
          const told = restarted === undefined ? result : withRestart(result, restarted);
          return claim.sent > 0 ? withMeta(told, "metamcp/attempts", claim.sent + 1) : told;
        } catch (error) {
          answered = error instanceof RpcError;
          if (answered) this.#answered(claim);
          if (!this.#isRetried(connection, claim, error)) throw error;
        } finally {
          claim.timer?.stop();
          connection.drop(claim, answered);
        }
      }
    } catch (error) {
      if (call.trail && claim.tries > 1) call.trail.attempts = claim.tries;
      // The meaning of a timeout is known only after the ping in #checkAlive, which settles it.
      const timedOut = isTimeout(error) && claim.id !== undefined;
      if (!(error instanceof RpcError) && !timedOut) this.#settleUnanswered(claim, "unknown");
      throw this.#explained(error, {
        repeat: call.repeat,
        unsent: isUnsent(claim, error),
        attempts: timesSent(claim),
      });
    }
  }

  /** Waits for a connection until the deadline of the call. */
  async #reach(claim: Claim, deadline: number, signal?: Signal): Promise<Connection> {
    const { clock } = this.#parts;
    const { spec } = this.connections;
    const stop = new CallSignal();
    const cancel = (): void => stop.abort(signal?.reason);
    if (signal?.aborted) cancel();
    signal?.addEventListener("abort", cancel);
    const timer = clock.after(deadline - clock.now(), () => stop.abort(connectedTooLate(spec)));
    try {
      return await this.connections.reach(claim, stop);
    } finally {
      timer.cancel();
      signal?.removeEventListener("abort", cancel);
    }
  }

  /**
   * Connects and lists, for discovery. If it is the probe of the breaker, success closes the breaker.
   * Otherwise it does not count for the health of the child.
   */
  async connect(origin: Origin, { list = false }: { list?: boolean } = {}): Promise<Lease> {
    const { clock } = this.#parts;
    const { spec } = this.connections;
    const admitted = this.#health.admit(spec.name, clock.now());
    const claim = claimOf({ origin, uplink: origin.uplink, repeat: "unknown" }, admitted, true);
    try {
      const ready = this.connections.open(claim);
      const connection = ready ?? (await this.#reach(claim, clock.now() + spec.deadlineMs));
      const lease = connection.lease();
      connection.drop(claim);
      if (ready && list) await ready.listAgain();
      const proven = !ready && admitted.phase === "half-open";
      this.#health.settle(admitted, proven ? "healthy" : "unknown", clock.now());
      return lease;
    } catch (error) {
      this.#health.settle(admitted, "unknown", clock.now());
      throw this.#explained(error, NOTHING_SENT);
    }
  }

  /**
   * Waits until all current connections are ready and have read their lists. Without any it connects for
   * `origin`.
   */
  async ensureConnected(origin: Origin): Promise<void> {
    const usable = this.connections.current.filter((connection) => connection.usable);
    if (usable.length === 0) (await this.connect(origin)).release();
    try {
      await Promise.all(usable.map(({ ready }) => ready));
    } catch (error) {
      throw this.#explained(error, NOTHING_SENT);
    }
    await this.#listsRead();
  }

  /**
   * Prompts and resources are listed after a connect. Waits for them at most as long as a connect may take.
   */
  async #listsRead(): Promise<void> {
    const { clock } = this.#parts;
    const { spec } = this.connections;
    const until = clock.now() + spec.connectTimeoutMs;
    const reading = (): boolean => this.connections.current.some(({ asking }) => asking);
    // Between two pages of a list nothing is asked for a moment.
    for (let quiet = 0; quiet < 2 && clock.now() < until; quiet = reading() ? 0 : quiet + 1)
      await new Promise<void>((resolve) => {
        if (reading()) clock.after(LISTS_LOOK_MS, resolve);
        else setImmediate(resolve);
      });
  }

  #explained(error: unknown, call: Omit<FailedCall, "server">): Error {
    const { spec } = this.connections;
    return callError(error, { server: spec.name, ...call }, spec, this.#parts.howToLogIn?.(spec));
  }

  #send(connection: Connection, call: Call, claim: Claim, deadline: number): Promise<Raw> {
    claim.tries++;
    const answer = connection.request(claim, call.method, call.params, call.signal);
    // Made after the request is sent, so that the child already works meanwhile.
    claim.timer = new CallTimer(
      this.#alarm,
      { silenceMs: connection.spec.timeoutMs, deadline, pauseMs: MAX_PAUSE_MS },
      (silentMs) => {
        connection.cancel(claim, callTimeout(call, connection.spec, silentMs));
        void this.#checkAlive(connection, claim);
      },
    );
    return answer;
  }

  #answered(claim: Claim): void {
    const now = this.#parts.clock.now();
    this.#health.settle(claim.admitted, "healthy", now);
    this.#health.settleCrash(claim.crash, "recovered", claim.admitted, now);
    claim.crash = undefined;
  }

  /** Whether the call gets another attempt. Only the loss of its connection leads to one. */
  #isRetried(connection: Connection, claim: Claim, error: unknown): boolean {
    if (!(error instanceof ChildFailure)) return false;
    if (connection.state === "failed") return claim.retry;
    // MetaMCP ended the connection: that says nothing about the child.
    if (connection.state === "closed") return false;
    if (error.category === "auth") {
      this.connections.losses.unauthorised(connection, error);
      return false;
    }
    // The HTTP session is lost, or another login replaced the one that began it. Calls in flight finish on
    // the old connection.
    if (error.sessionLost && error.unsent && !claim.begun && claim.tries < MAX_TRIES) {
      this.connections.retire(connection);
      return true;
    }
    // The session seems to be lost, but the call may have run.
    if (error.sessionLost && !error.unsent) {
      this.connections.retire(connection);
      return false;
    }
    // One request failed on a link that stays open (HTTP).
    if (error.category === "offline") {
      const crash = this.connections.losses.requestLost(connection, claim, error);
      if (crash.restart) void this.#checkRestart(connection, claim, crash);
      return claim.retry;
    }
    // A server that limits its callers works, and says itself when to come back.
    if (!error.limited) this.#health.failed(claim.admitted, error, this.#parts.clock.now());
    return false;
  }

  /**
   * After a timeout: a slow child is healthy, a child that answers no ping has failed. Settles the health of
   * the call.
   */
  async #checkAlive(connection: Connection, claim: Claim): Promise<void> {
    const { clock } = this.#parts;
    // The lease keeps the pool from ending an idle connection before the ping is answered.
    const lease = connection.lease();
    const alive = await isAlive(connection, clock);
    // Not connected: it was lost meanwhile, or the check of another call was faster.
    if (alive || !connection.connected) this.#settleUnanswered(claim, alive ? "recovered" : "unknown");
    else {
      const failure = new ChildFailure("offline", "it no longer answers, not even to a ping");
      this.#health.failed(claim.admitted, failure, clock.now());
      connection.fail(failure);
    }
    lease.release();
  }

  /**
   * A request was lost and is not sent again, but its link stays open. There is nothing to restart: a ping
   * decides whether it counts.
   */
  async #checkRestart(connection: Connection, { admitted }: Claim, crash: Crash): Promise<void> {
    const { clock } = this.#parts;
    const lease = connection.lease();
    const alive = await isAlive(connection, clock);
    // Not connected: it was lost meanwhile, which is counted by itself.
    const failed = !alive && connection.connected;
    this.#health.settleCrash(crash, failed ? "failed" : "recovered", admitted, clock.now());
    if (failed) connection.fail(new ChildFailure("offline", "it no longer answers, not even to a ping"));
    lease.release();
  }

  #settleUnanswered({ admitted, crash }: Claim, outcome: CallOutcome): void {
    const now = this.#parts.clock.now();
    this.#health.settleCrash(crash, outcome, admitted, now);
    this.#health.settle(admitted, "unknown", now);
  }
}

function uriOf(params: Raw): string {
  const uri = member(params, "uri");
  return String(uri && fromRaw(uri));
}

/** Whether the call certainly did not reach the child, at this attempt or before. */
function isUnsent({ id, sent, begun }: Claim, error: unknown): boolean {
  if (begun || sent > 0) return false;
  return id === undefined || (error instanceof ChildFailure && error.unsent);
}

function isTimeout(error: unknown): boolean {
  return MetaMcpError.is(error) && error.code === "timeout";
}

/** Says that the process which the client used before has ended, and what it held with it. */
function withRestart(result: Raw, reason: string): Raw {
  const note =
    "The server was restarted since your last call. What its process held (open pages, terminals, sessions) is gone.";
  return withMeta(result, RESTARTED, { reason, note } satisfies Restarted);
}

function withMeta(result: Raw, name: string, value: unknown): Raw {
  const meta = member(result, "_meta");
  return withMember(result, "_meta", withMember(meta ?? EMPTY_OBJECT, name, toRaw(value)));
}

/** Checks with a ping whether a child still answers after a call timed out. */
const PING_TIMEOUT_MS = 2_000;
/** Failures that prove that the server answered. */
const ANSWERED: ReadonlySet<Category> = new Set(["auth", "other"]);
const checks = new WeakMap<Connection, Promise<boolean>>();

/** Calls that time out on the same connection share one check. */
function isAlive(connection: Connection, clock: Clock): Promise<boolean> {
  let check = checks.get(connection);
  if (!check) {
    check = ping(connection, clock).finally(() => checks.delete(connection));
    checks.set(connection, check);
  }
  return check;
}

async function ping(connection: Connection, clock: Clock): Promise<boolean> {
  const timeout = new AbortController();
  const timer = clock.after(PING_TIMEOUT_MS, () => timeout.abort(new Error("no answer to ping")));
  try {
    await connection.ask("ping", undefined, timeout.signal);
    return true;
  } catch (error) {
    // An error such as "Method not found" is an answer too, as JSON-RPC or as an HTTP status.
    return error instanceof RpcError || (error instanceof ChildFailure && ANSWERED.has(error.category));
  } finally {
    timer.cancel();
  }
}
