/**
 * One connection to one child: opens (pool slot, link, handshake, first list), sends requests in parallel,
 * and ends.
 */

import { masked } from "../config/secrets.ts";
import type { ServerSpec } from "../config/spec.ts";
import type { Lease, Origin } from "../kernel/call.ts";
import type { Timer } from "../kernel/clock.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import type { ConnectionChanged } from "../kernel/events.ts";
import type { Raw } from "../kernel/raw.ts";
import type { KnownRoots } from "../kernel/roots.ts";
import type { ConnectionState } from "../kernel/server-status.ts";
import { aborted, type Signal } from "../kernel/signal.ts";
import type { Claim } from "./claim.ts";
import { limitConnect, type StartPhase } from "./connect-limit.ts";
import type { ConnectionParts } from "./connection-parts.ts";
import { ConnectionUse } from "./connection-use.ts";
import { Conversation } from "./conversation.ts";
import type { Dialect } from "./dialect.ts";
import { connectTimeout } from "./failure-text.ts";
import { FirstList } from "./first-list.ts";
import type { HandshakeResult } from "./handshake.ts";
import { ChildFailure, type Loss } from "./link.ts";
import { transition } from "./machine.ts";
import type { Pooled, PoolSlot } from "./pool-slot.ts";

/** Used while clients are subscribed to resources of the child, whatever the config says. */
const SUBSCRIBED: ServerSpec["lifecycle"] = { mode: "keep-alive" };

export class Connection implements Pooled {
  /** Resolves when calls may be sent; rejects with the reason if the connection cannot be opened. */
  readonly ready: Promise<void>;
  readonly label: string;
  /** The answer to the child's `roots/list`. */
  roots: KnownRoots | undefined;
  readonly #parts: ConnectionParts;
  readonly #conversation: Conversation;
  #spec: ServerSpec;
  readonly #use: ConnectionUse;
  readonly #opening = new AbortController();
  #state: ConnectionState = "idle";
  #since: number;
  #handshake: HandshakeResult | undefined;
  readonly #firstList: FirstList;
  #slot: PoolSlot | undefined;
  #opened = false;
  #asks = 0;
  #whyEnded: string | undefined;
  #retired = false;
  #closeReported = false;
  #ending: Promise<void> | undefined;
  /** Why MetaMCP ended the connection; undefined if it ended by itself. */
  #endReason: string | undefined;
  #drained: (() => void) | undefined;

  constructor(parts: ConnectionParts) {
    this.#parts = parts;
    this.#spec = parts.spec;
    this.label = parts.spec.name;
    this.roots = parts.roots;
    this.#use = new ConnectionUse({ onBusy: () => this.#becameBusy(), onIdle: () => this.#becameIdle() });
    this.#firstList = new FirstList({
      list: (handshake) => parts.onHandshake(handshake),
      onFailed: ({ message }) =>
        parts.log.warn(`${this.label}: its tools could not be listed: ${message}`, { server: this.label }),
    });
    this.#since = parts.clock.now();
    this.#conversation = new Conversation({
      ...parts,
      claims: this.#use.claims,
      roots: () => this.roots,
      onClosed: (failure) => this.#lost({ failure, counted: false }),
    });
    this.ready = this.#open();
    this.ready.catch(() => {});
  }

  get state(): ConnectionState {
    return this.#state;
  }

  get spec(): ServerSpec {
    return this.#spec;
  }

  get lifecycle(): ServerSpec["lifecycle"] {
    return this.#parts.audience.subscriptions.empty ? this.#spec.lifecycle : SUBSCRIBED;
  }

  /** Takes new settings that do not affect how the child is reached. */
  adopt(spec: ServerSpec): void {
    this.#spec = spec;
  }

  get origin(): Origin {
    return this.#parts.origin;
  }

  /** What the child said about itself. Undefined before it is connected. */
  get handshake(): HandshakeResult | undefined {
    return this.#handshake;
  }

  /** The handshake is done and the connection has not ended. */
  get connected(): boolean {
    return this.#handshake !== undefined && (this.#state === "idle" || this.#state === "active");
  }

  /** Calls may be sent now or once it is ready. */
  get usable(): boolean {
    return !this.#ending && !this.#retired && this.#state !== "failed" && this.#state !== "closed";
  }

  /** Calls may be sent now. */
  get open(): boolean {
    return this.#opened && this.usable;
  }

  get retired(): boolean {
    return this.#retired;
  }

  get inUse(): boolean {
    return this.#use.users > 0;
  }

  /** Number of calls in flight or waiting for the connection. */
  get calls(): number {
    return this.#use.calls;
  }

  /** How long it has been connecting, and the last output of the child. */
  progress(): { forMs: number; lastWords: string | undefined } {
    return { forMs: this.#parts.clock.now() - this.#since, lastWords: this.#conversation.lastWords() };
  }

  get startPhase(): StartPhase {
    return this.#conversation.startPhase;
  }

  /**
   * Each call that waits for the connection or uses it holds it. `stays`: the session of the call joins the
   * audience.
   */
  hold(claim: Claim, stays = true): void {
    if (stays) this.#parts.audience.join(claim.origin);
    this.#use.add(claim);
  }

  /** Ends a `hold`. If the call was not answered, the child may still work on it. */
  drop(claim: Claim, answered = true): void {
    if (!answered && claim.id !== undefined) this.#conversation.callCancelled(claim.origin);
    this.#use.remove(claim);
  }

  /** Ends a connection that still waits for a slot in the pool if no caller needs it any more. */
  endIfUnneeded(): void {
    if (!this.#slot && this.#use.users === 0) void this.end("no caller is waiting for it");
  }

  claims(): Iterable<Claim> {
    return this.#use.claims;
  }

  /**
   * Sends a request of a caller that holds the connection. Rejects with RpcError, ChildFailure or the reason
   * of the cancellation.
   */
  request(claim: Claim, method: string, params: Raw, signal: Signal): Promise<Raw> {
    return (this.#conversation.dialect as Dialect).request(claim, method, params, signal);
  }

  get whyEnded(): string | undefined {
    return this.#whyEnded;
  }

  /**
   * Why the process that this client used before has ended. Said once, and only of servers that are kept
   * alive for their state.
   */
  takeRestart({ session, sessionless }: Origin): string | undefined {
    if (this.#spec.lifecycle.mode !== "keep-alive" || sessionless) return undefined;
    return this.#parts.audience.answered(session, this);
  }

  /**
   * Sends a request of MetaMCP itself. Rejects with `cancelled` if MetaMCP ends the connection meanwhile,
   * which is no failure.
   */
  async ask(method: string, params: Raw | undefined, signal?: Signal): Promise<Raw> {
    const lease = this.lease();
    this.#asks++;
    try {
      return await (this.#conversation.dialect as Dialect).ask(method, params, signal);
    } catch (error) {
      if (this.#endReason !== undefined) throw new MetaMcpError("cancelled", this.#endReason);
      // The error text becomes a reason that people read, so secrets in it are masked.
      throw masked(error as Error, this.spec);
    } finally {
      this.#asks--;
      lease.release();
    }
  }

  /** MetaMCP itself waits for an answer, such as a list. */
  get asking(): boolean {
    return this.#asks > 0;
  }

  lease(): Lease {
    return this.#use.lease();
  }

  /** Rejects a caller's request with `error` and tells the child. */
  cancel(claim: Claim, error: Error): void {
    if (claim.running) claim.running.stop(error);
    else this.#conversation.dialect?.cancel(claim, error);
  }

  /** Takes no further calls and ends when those in flight are done. */
  retire(): Promise<void> {
    this.#retired = true;
    if (!this.#opened || this.#use.users === 0) return this.end("its settings changed");
    return new Promise((resolve) => {
      this.#drained = resolve;
    });
  }

  end(reason: string): Promise<void> {
    if (this.#ending) return this.#ending;
    this.#endReason = reason;
    const failure = new ChildFailure("other", reason, { unsent: this.#state === "connecting" });
    this.#ending = this.#finish("closed", failure);
    return this.#ending;
  }

  /** The child no longer answers: fails the calls in flight as if the child had crashed. */
  fail(failure: ChildFailure): void {
    this.#lost({ failure, counted: true });
  }

  async #open(): Promise<void> {
    const { spec, pool, clock } = this.#parts;
    const { signal } = this.#opening;
    let timer: Timer | undefined;
    try {
      // Without `after` nothing is awaited before `acquire`: `pool.hasRoom` must count this connection at
      // once.
      if (this.#parts.after) await this.#parts.after;
      this.#slot = await pool.acquire(spec.connectTimeoutMs, signal);
      this.#slot.occupy(this);
      this.#go("connecting");
      this.#report("connecting");
      this.#since = clock.now();
      timer = limitConnect({
        clock,
        spec,
        phase: () => this.#conversation.startPhase,
        onLate: (phase, limitMs) =>
          this.#opening.abort(
            connectTimeout(spec, { phase, limitMs, lastWords: this.#conversation.lastWords() }),
          ),
      });
      await this.#conversation.dial(signal);
      this.#report("started");
      const handshake = await this.#conversation.handshake(signal);
      this.#handshake = handshake;
      this.#conversation.begin(handshake, (method, params) => this.ask(method, params));
      await this.#list(handshake, signal);
      signal.throwIfAborted();
      this.#opened = true;
      this.#report("connected");
    } catch (error) {
      const failure = masked((signal.aborted ? signal.reason : error) as Error, spec);
      // `end` ran while a step of the opening was awaited: it did not know the slot or link that came since,
      // so release again.
      if (this.#ending) void this.#release();
      else this.#ending = this.#finish("failed", failure);
      throw failure;
    } finally {
      timer?.cancel();
    }
  }

  async #list(handshake: HandshakeResult, signal: AbortSignal): Promise<void> {
    this.#go("active");
    const lease = this.lease();
    await this.#firstList.take(handshake, signal);
    await Promise.race([this.#conversation.rootsSettled(), aborted(signal)]);
    // Not released after an error: a connection that failed here must not become idle.
    lease.release();
  }

  /** Lists again if the first list failed. Never rejects. */
  listAgain(): Promise<void> {
    return this.#firstList.again();
  }

  #lost(loss: Loss): void {
    if (this.#ending) return;
    if (!this.#opened) {
      this.#conversation.destroy(loss.failure);
      this.#opening.abort(loss.failure);
      return;
    }
    const state = this.#state === "idle" ? "closed" : "failed";
    this.#ending = this.#finish(state, loss.failure, () => this.#parts.onLost(loss));
  }

  async #finish(state: "closed" | "failed", failure: Error, beforeCallsFail?: () => void): Promise<void> {
    if (this.#state !== state) this.#go(this.#state === "idle" ? "closed" : state);
    this.#whyEnded = failure.message;
    if (this.#state === "failed") this.#report("failed", failure);
    beforeCallsFail?.();
    this.#opening.abort(failure);
    for (const { running } of this.#use.claims) running?.stop(failure);
    this.#conversation.end(failure);
    await this.#release();
    this.#drained?.();
  }

  async #release(): Promise<void> {
    const { dialled } = this.#conversation;
    await this.#conversation.close();
    // A connection that is ended while it opens is released twice.
    if (dialled && !this.#closeReported) this.#report("closed");
    if (dialled) this.#closeReported = true;
    await this.#parts.after;
    this.#slot?.free();
  }

  #report(state: ConnectionChanged["state"], failure?: Error): void {
    this.#parts.report?.(state, { pid: this.#conversation.pid, failure });
  }

  #go(to: ConnectionState): void {
    this.#state = transition(this.#state, to);
  }

  #becameBusy(): void {
    if (this.#state !== "idle" || !this.#handshake) return;
    this.#go("active");
    this.#slot?.busy();
  }

  #becameIdle(): void {
    if (this.#state !== "active") return;
    this.#go("idle");
    if (this.#retired) void this.end("its settings changed");
    else this.#slot?.idle();
  }
}
