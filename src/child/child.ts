/** One configured server: how a call finds its way over its connections, also when one of them dies under it. */
import { idOf } from "../config/identity.ts";
import type { ServerSpec } from "../config/spec.ts";
import { Alarm } from "../kernel/alarm.ts";
import type { Call, Lease, Origin } from "../kernel/call.ts";
import { CallTimer } from "../kernel/call-timer.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import { EMPTY_OBJECT, fromRaw, type Raw, toRaw } from "../kernel/raw.ts";
import { CallSignal, type Signal } from "../kernel/signal.ts";
import { RpcError } from "../rpc/rpc-error.ts";
import { member, withMember } from "../rpc/slice.ts";
import type { Breaker } from "./breaker.ts";
import type { ChildParts } from "./child-parts.ts";
import { type Claim, claimOf } from "./claim.ts";
import type { Connection } from "./connection.ts";
import { Connections } from "./connections.ts";
import { explain, lateOf, timeoutOf } from "./explain.ts";
import { Health } from "./health.ts";
import { ChildFailure } from "./link.ts";
import { isAlive } from "./liveness.ts";
import { MAX_TRIES, type Word } from "./retry.ts";
import { type ChildStatus, statusOf } from "./status.ts";

/** Nobody is waited for longer than this. */
const PAUSE_MOST_MS = 600_000;

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
      if (events?.heard) events.emit({ type: "breaker", at: Date.now(), server: idOf(spec), state });
    });
    this.connections = new Connections(spec, parts, this.#health);
  }

  status(): ChildStatus {
    const { spec, current } = this.connections;
    return statusOf(spec, current, this.#health, this.#parts.clock.now());
  }

  get breaker(): Breaker {
    return this.#health.current;
  }

  /** The verb: sends a call to the child and gives its result as written. */
  handle(call: Call): Promise<Raw> {
    if (call.method === "resources/subscribe") return this.#subscribe(call);
    if (call.method === "resources/unsubscribe") return this.#unsubscribe(call);
    return this.#carry(call);
  }

  /** Once for all who share a connection. What comes of it goes the way back that this call gives. */
  async #subscribe(call: Call): Promise<Raw> {
    const { session } = call.origin;
    const audience = this.connections.audienceOf(call.origin);
    const uri = uriOf(call.params);
    const known = audience.connected && audience.subscriptions.has(uri);
    audience.subscriptions.add(uri, session, call.uplink);
    try {
      const result = known ? EMPTY_OBJECT : await this.#carry(call);
      audience.subscriptions.agreed(uri, session);
      return result;
    } catch (error) {
      audience.subscriptions.remove(uri, session);
      throw error;
    }
  }

  /** Reaches the child once nobody is listening; no child is started for it. */
  async #unsubscribe(call: Call): Promise<Raw> {
    const audience = this.connections.audienceOf(call.origin);
    const uri = uriOf(call.params);
    audience.subscriptions.remove(uri, call.origin.session);
    return audience.connected && !audience.subscriptions.has(uri) ? await this.#carry(call) : EMPTY_OBJECT;
  }

  async #carry(call: Call): Promise<Raw> {
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
          return claim.sent > 0 ? withAttempts(result, claim.sent + 1) : result;
        } catch (error) {
          answered = error instanceof RpcError;
          if (answered) this.#answered(claim);
          if (!this.#goesOn(connection, claim, error)) throw error;
        } finally {
          claim.timer?.stop();
          connection.drop(claim, answered);
        }
      }
    } catch (error) {
      if (call.trail && claim.tries > 1) call.trail.attempts = claim.tries;
      // What a timeout means is known only when the child was asked whether it lives.
      const sentInVain = isTimeout(error) && claim.id !== undefined;
      if (!(error instanceof RpcError) && !sentInVain) this.#saidNothing(claim, "silent");
      throw this.#explained(error, call.repeat, isUnsent(claim, error));
    }
  }

  /** The time it takes to connect counts too. */
  async #reach(claim: Claim, deadline: number, signal?: Signal): Promise<Connection> {
    const { clock } = this.#parts;
    const { spec } = this.connections;
    const given = new CallSignal();
    const giveUp = (): void => given.abort(signal?.reason);
    if (signal?.aborted) giveUp();
    signal?.addEventListener("abort", giveUp);
    const timer = clock.after(deadline - clock.now(), () => given.abort(lateOf(spec)));
    try {
      return await this.connections.reach(claim, given);
    } finally {
      timer.cancel();
      signal?.removeEventListener("abort", giveUp);
    }
  }

  /** Connects and lists, for discovery. As a probe its success closes the breaker; else it says nothing about callers. */
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
      throw this.#explained(error, "safe", true);
    }
  }

  /** Resolves once those it is being dialled for are connected; where there are none, it is connected for `origin`. */
  async stand(origin: Origin): Promise<void> {
    const dialled = this.connections.current.filter(({ usable }) => usable);
    if (dialled.length === 0) return (await this.connect(origin)).release();
    try {
      await Promise.all(dialled.map(({ ready }) => ready));
    } catch (error) {
      throw this.#explained(error, "safe", true);
    }
  }

  #explained(error: unknown, repeat: Call["repeat"], unsent: boolean): Error {
    const { spec } = this.connections;
    return explain(error, { server: spec.name, repeat, unsent }, spec, this.#parts.howToLogIn?.(spec));
  }

  #send(connection: Connection, call: Call, claim: Claim, deadline: number): Promise<Raw> {
    claim.tries++;
    const answer = connection.request(claim, call.method, call.params, call.signal);
    // Not before: while this is made the child is at work already.
    claim.timer = new CallTimer(
      this.#alarm,
      { silenceMs: connection.spec.timeoutMs, deadline, pauseMs: PAUSE_MOST_MS },
      (silentMs) => {
        connection.cancel(claim, timeoutOf(call, connection.spec, silentMs));
        void this.#checkAlive(connection, claim);
      },
    );
    return answer;
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
    // Ended by us: that says nothing about the child.
    if (connection.state === "closed") return false;
    if (error.category === "auth") {
      this.connections.losses.unauthorised(connection, error);
      return false;
    }
    // Someone else is logged in: what is under way finishes as the old one, this goes out as the new one.
    if (error.sessionLost && claim.tries < MAX_TRIES) {
      this.connections.replace(connection);
      return true;
    }
    // The link lives and one request failed on it: HTTP.
    if (error.category === "offline") {
      this.connections.losses.requestLost(connection, claim, error);
      return claim.again;
    }
    this.#health.failed(claim.admitted, error.message, this.#parts.clock.now());
    return false;
  }

  /** A call timed out: slow is no failure, dead is one. Settles what the call left open. */
  async #checkAlive(connection: Connection, claim: Claim): Promise<void> {
    const { clock } = this.#parts;
    // An idle one might be ended before it is known what it was.
    const lease = connection.lease();
    const alive = await isAlive(connection, clock);
    // Not connected: it died meanwhile, or another call's check was quicker.
    if (alive || !connection.connected) this.#saidNothing(claim, alive ? "cured" : "silent");
    else {
      const failure = new ChildFailure("offline", "it no longer answers, not even to a ping");
      this.#health.failed(claim.admitted, failure.message, clock.now());
      connection.giveUp(failure);
    }
    lease.release();
  }

  /** The call ended without an answer. */
  #saidNothing({ admitted, death }: Claim, word: Word): void {
    const now = this.#parts.clock.now();
    this.#health.tell(death, word, admitted, now);
    this.#health.settle(admitted, "unknown", now);
  }
}

function uriOf(params: Raw): string {
  const uri = member(params, "uri");
  return String(uri && fromRaw(uri));
}

/** It reached no connection, this time or before. */
function isUnsent({ id, sent }: Claim, error: unknown): boolean {
  return sent === 0 && (id === undefined || (error instanceof ChildFailure && error.unsent));
}

function isTimeout(error: unknown): boolean {
  return MetaMcpError.is(error) && error.code === "timeout";
}

/** `_meta["metamcp/attempts"]`: the child may have seen this call before. */
function withAttempts(result: Raw, attempts: number): Raw {
  const meta = member(result, "_meta");
  return withMember(result, "_meta", withMember(meta ?? EMPTY_OBJECT, "metamcp/attempts", toRaw(attempts)));
}
