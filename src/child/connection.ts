/** One connection to one child: a place in the pool, a link, the handshake, the first list; then requests side by side until it ends. */
import { masked } from "../config/secrets.ts";
import type { ServerSpec } from "../config/spec.ts";
import type { Lease, Origin } from "../kernel/call.ts";
import type { Timer } from "../kernel/clock.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import type { ConnectionChanged } from "../kernel/events.ts";
import type { Raw } from "../kernel/raw.ts";
import type { KnownRoots } from "../kernel/roots.ts";
import { aborted, type Signal } from "../kernel/signal.ts";
import type { Claim } from "./claim.ts";
import type { ConnectionParts } from "./connection-parts.ts";
import { ConnectionUse } from "./connection-use.ts";
import { Conversation } from "./conversation.ts";
import type { Dialect } from "./dialect.ts";
import { slowOf } from "./explain.ts";
import { FirstList } from "./first-list.ts";
import type { Greeting } from "./handshake.ts";
import { ChildFailure, type Loss } from "./link.ts";
import { type ConnectionState, transition } from "./machine.ts";
import type { Pooled, PoolSlot } from "./pool-slot.ts";

/** As long as someone subscribed to its resources, whatever the config says. */
const SUBSCRIBED: ServerSpec["lifecycle"] = { mode: "keep-alive" };

export class Connection implements Pooled {
  /** Settles when calls may be sent, or with why they never can. */
  readonly ready: Promise<void>;
  readonly label: string;
  /** What the child is told when it asks for roots. */
  roots: KnownRoots | undefined;
  readonly #parts: ConnectionParts;
  readonly #conversation: Conversation;
  #spec: ServerSpec;
  readonly #use: ConnectionUse;
  readonly #opening = new AbortController();
  #state: ConnectionState = "idle";
  #since: number;
  #greeting: Greeting | undefined;
  readonly #firstList: FirstList;
  #place: PoolSlot | undefined;
  #opened = false;
  #retired = false;
  /** Nothing of it is left. */
  #gone = false;
  #ending: Promise<void> | undefined;
  /** Why we ended it, where it did not end by itself. */
  #stopped: string | undefined;
  #drained: (() => void) | undefined;

  constructor(parts: ConnectionParts) {
    this.#parts = parts;
    this.#spec = parts.spec;
    this.label = parts.spec.name;
    this.roots = parts.roots;
    this.#use = new ConnectionUse({ onBusy: () => this.#becameBusy(), onIdle: () => this.#becameIdle() });
    this.#firstList = new FirstList((greeting) => parts.greet(greeting));
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

  /** Settings that do not change how it is dialled hold for it too. */
  adopt(spec: ServerSpec): void {
    this.#spec = spec;
  }

  get origin(): Origin {
    return this.#parts.origin;
  }

  /** Handshake done and not ended. */
  get connected(): boolean {
    return this.#greeting !== undefined && (this.#state === "idle" || this.#state === "active");
  }

  /** It may still be asked to carry a call, at once or when it is ready. */
  get usable(): boolean {
    return !this.#ending && !this.#retired && this.#state !== "failed" && this.#state !== "closed";
  }

  /** Calls may be sent at once. */
  get open(): boolean {
    return this.#opened && this.usable;
  }

  get retired(): boolean {
    return this.#retired;
  }

  get inFlight(): number {
    return this.#use.users;
  }

  /** Calls that it carries or that wait for it. */
  get calls(): number {
    return this.#use.calls;
  }

  /** Milliseconds it has been connecting, and what the child last said about it. */
  progress(): { forMs: number; lastWords: string | undefined } {
    return { forMs: this.#parts.clock.now() - this.#since, lastWords: this.#conversation.lastWords() };
  }

  /** Whoever waits for or uses the connection holds it: it is not idle, and the child's questions find their way. `stays`: its session belongs to those who share it. */
  hold(claim: Claim, stays = true): void {
    if (stays) this.#parts.audience.join(claim.origin);
    this.#use.add(claim);
  }

  /** Unanswered: the child may still be at it. */
  drop(claim: Claim, answered = true): void {
    if (!answered && claim.id !== undefined) this.#conversation.left(claim.origin);
    this.#use.remove(claim);
  }

  /** A caller went away: what has no place in the pool yet, and nobody else who waits for it, need not get one. */
  forsake(): void {
    if (!this.#place && this.#use.users === 0) void this.end("no caller is waiting for it");
  }

  claims(): ReadonlySet<Claim> {
    return this.#use.claims;
  }

  /** A request of a caller who holds it. Rejects with RpcError, ChildFailure, or what it was cancelled with. */
  request(claim: Claim, method: string, params: Raw, signal: Signal): Promise<Raw> {
    return (this.#conversation.dialect as Dialect).request(claim, method, params, signal);
  }

  /** A request of our own; `cancelled` where we end the connection under it, which is nobody's fault. */
  async ask(method: string, params: Raw | undefined, signal?: Signal): Promise<Raw> {
    const lease = this.lease();
    try {
      return await (this.#conversation.dialect as Dialect).ask(method, params, signal);
    } catch (error) {
      if (this.#stopped !== undefined) throw new MetaMcpError("cancelled", this.#stopped);
      // We asked for ourselves: what it says becomes a reason that people read.
      throw masked(error as Error, this.spec);
    } finally {
      lease.release();
    }
  }

  /** Until it is released the connection is in use. */
  lease(): Lease {
    return this.#use.lease();
  }

  /** Gives a caller's request up with `error` and tells the child. */
  cancel(claim: Claim, error: Error): void {
    if (claim.run) claim.run.stop(error);
    else this.#conversation.dialect?.cancel(claim, error);
  }

  /** Takes no further calls; ends when those under way are done. */
  retire(): Promise<void> {
    this.#retired = true;
    if (!this.#opened || this.#use.users === 0) return this.end("its settings changed");
    return new Promise((resolve) => {
      this.#drained = resolve;
    });
  }

  end(reason: string): Promise<void> {
    if (this.#ending) return this.#ending;
    this.#stopped = reason;
    const failure = new ChildFailure("other", reason, { unsent: this.#state === "connecting" });
    this.#ending = this.#finish("closed", failure);
    return this.#ending;
  }

  /** It no longer answers: what it carries is lost, as if it had died. */
  giveUp(failure: ChildFailure): void {
    this.#lost({ failure, counted: true });
  }

  async #open(): Promise<void> {
    const { spec, pool, clock } = this.#parts;
    const { signal } = this.#opening;
    let timer: Timer | undefined;
    try {
      // Otherwise at once, so that whoever asks for room next knows of it.
      if (this.#parts.after) await this.#parts.after;
      this.#place = await pool.acquire(spec.connectTimeoutMs, signal);
      this.#place.occupy(this);
      this.#go("connecting");
      this.#report("connecting");
      this.#since = clock.now();
      timer = clock.after(spec.connectTimeoutMs, () =>
        this.#opening.abort(slowOf(spec, this.#conversation.lastWords())),
      );
      await this.#conversation.dial(signal);
      this.#report("started");
      const greeting = await this.#conversation.meet(signal);
      this.#greeting = greeting;
      this.#conversation.begin(greeting, (method, params) => this.ask(method, params));
      await this.#greet(greeting, signal);
      signal.throwIfAborted();
      this.#opened = true;
      this.#report("connected");
    } catch (error) {
      const failure = masked((signal.aborted ? signal.reason : error) as Error, spec);
      // Ended by others in the moment between: what has come since is not known to who ended it.
      if (this.#ending) void this.#release();
      else this.#ending = this.#finish("failed", failure);
      throw failure;
    } finally {
      timer?.cancel();
    }
  }

  /** A child that cannot list is still a child; one that dies over it is none. */
  async #greet(greeting: Greeting, signal: AbortSignal): Promise<void> {
    this.#go("active");
    const lease = this.lease();
    try {
      await Promise.race([this.#firstList.take(greeting), aborted(signal)]);
    } catch (error) {
      if (error instanceof ChildFailure || signal.aborted) throw error;
      const { log, spec } = this.#parts;
      const why = `its tools could not be listed: ${(error as Error).message}`;
      log.warn(`${this.label}: ${why}`, { server: spec.name });
    }
    await Promise.race([this.#conversation.rootsDigested(), aborted(signal)]);
    // Not before: what failed over its list must not look idle.
    lease.release();
  }

  /** Once more, where its first list could not be had. Never rejects: it is still a child. */
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
    this.#ending = this.#finish(this.#state === "idle" ? "closed" : "failed", loss.failure, () =>
      this.#parts.onLost(loss),
    );
  }

  async #finish(state: "closed" | "failed", failure: Error, beforeCallersHear?: () => void): Promise<void> {
    if (this.#state !== state) this.#go(this.#state === "idle" ? "closed" : state);
    if (this.#state === "failed") this.#report("failed", failure);
    beforeCallersHear?.();
    this.#opening.abort(failure);
    for (const { run } of this.#use.claims) run?.stop(failure);
    this.#conversation.end(failure);
    await this.#release();
    this.#drained?.();
  }

  async #release(): Promise<void> {
    const { dialled } = this.#conversation;
    await this.#conversation.close();
    // Released twice where it is ended while it is being opened.
    if (dialled && !this.#gone) this.#report("closed");
    if (dialled) this.#gone = true;
    await this.#parts.after;
    this.#place?.free();
  }

  #report(state: ConnectionChanged["state"], failure?: Error): void {
    this.#parts.report?.(state, { pid: this.#conversation.pid, failure });
  }

  #go(to: ConnectionState): void {
    this.#state = transition(this.#state, to);
  }

  #becameBusy(): void {
    if (this.#state !== "idle" || !this.#greeting) return;
    this.#go("active");
    this.#place?.busy();
  }

  #becameIdle(): void {
    if (this.#state !== "active") return;
    this.#go("idle");
    if (this.#retired) void this.end("its settings changed");
    else this.#place?.idle();
  }
}
