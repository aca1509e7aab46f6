/** One connection to one child: a place in the pool, a link, the handshake, the first list; then requests side by side until it ends. */
import type { ServerSpec } from "../config/spec.ts";
import type { Lease, Origin } from "../kernel/call.ts";
import type { Clock, Timer } from "../kernel/clock.ts";
import type { Log } from "../kernel/log.ts";
import type { Raw } from "../kernel/raw.ts";
import { aborted, type Signal } from "../kernel/signal.ts";
import { Peer } from "../rpc/peer.ts";
import { members } from "../rpc/slice.ts";
import type { Audience, Line } from "./audience.ts";
import type { Claim } from "./claim.ts";
import type { Dialect } from "./dialect.ts";
import { slowOf } from "./explain.ts";
import type { Greeting } from "./handshake.ts";
import { Hearing } from "./hearing.ts";
import { ChildFailure, type Connector, type Link, type LinkEvents } from "./link.ts";
import { type ConnectionState, transition } from "./machine.ts";
import { type Met, meet } from "./modern/meet.ts";
import type { Place, Pool, Pooled } from "./pool.ts";

export type Ask = (method: string, params: Raw | undefined) => Promise<Raw>;

/** How a connection was lost. `counted`: the failure behind it is recorded already. */
export interface Loss {
  readonly failure: ChildFailure;
  readonly counted: boolean;
}

export interface ConnectionParts {
  readonly spec: ServerSpec;
  /** On whose behalf it is opened: its capabilities are declared to the child. */
  readonly origin: Origin;
  /** What must be over before it begins: the old process of the same child. */
  readonly after?: Promise<void> | undefined;
  readonly connector: () => Promise<Connector>;
  /** Which era the child spoke when it was last met, if that is known. */
  era(): string | undefined;
  readonly audience: Audience;
  readonly pool: Pool;
  readonly clock: Clock;
  readonly log: Log;
  /** Runs once the handshake is done; calls wait for it. */
  greet(connection: Connection, greeting: Greeting): Promise<void>;
  /** It died on its own. Called before the calls in flight hear of it. */
  onLost(connection: Connection, loss: Loss): void;
  /** One of its lists changed. */
  onListChanged(connection: Connection, method: string): void;
}

/** As long as someone subscribed to its resources, whatever the config says. */
const SUBSCRIBED: ServerSpec["lifecycle"] = { mode: "keep-alive" };

export class Connection implements Pooled {
  /** Settles when calls may be sent, or with why they never can. */
  readonly ready: Promise<void>;
  readonly label: string;
  readonly #parts: ConnectionParts;
  readonly #peer: Peer;
  readonly #hearing: Hearing;
  #spec: ServerSpec;
  readonly #claims = new Set<Claim>();
  readonly #opening = new AbortController();
  #state: ConnectionState = "idle";
  #since: number;
  #greeting: Greeting | undefined;
  #link: Link | undefined;
  /** Once the child was met. */
  #dialect: Dialect | undefined;
  #line: Line | undefined;
  #place: Place | undefined;
  #inFlight = 0;
  #opened = false;
  #retired = false;
  #ending: Promise<void> | undefined;
  #drained: (() => void) | undefined;

  constructor(parts: ConnectionParts) {
    this.#parts = parts;
    this.#spec = parts.spec;
    this.label = parts.spec.name;
    this.#since = parts.clock.now();
    this.#hearing = new Hearing({
      label: this.label,
      claims: this.#claims,
      audience: parts.audience,
      log: parts.log,
      clock: parts.clock,
      notify: (...said) => this.#peer.notify(...said),
      onListChanged: (method) => parts.onListChanged(this, method),
    });
    this.#peer = new Peer((...message) => this.#link?.send(...message), this.#hearing);
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
    return this.#inFlight;
  }

  /** Milliseconds it has been connecting, and what the child last said about it. */
  progress(): { forMs: number; lastWords: string | undefined } {
    return { forMs: this.#parts.clock.now() - this.#since, lastWords: this.#link?.lastWords() };
  }

  /** Whoever waits for or uses the connection holds it: it is not idle, and the child's questions find their way. */
  hold(claim: Claim): void {
    claim.id = undefined;
    claim.again = false;
    claim.risk = undefined;
    this.#claims.add(claim);
    this.#parts.audience.join(claim.origin);
    this.#enter();
  }

  /** Unanswered: the child may still be at it. */
  drop(claim: Claim, answered = true): void {
    if (!answered && claim.id !== undefined) this.#hearing.left(claim.origin);
    if (this.#claims.delete(claim)) this.#leave();
  }

  /** A caller went away: what has no place in the pool yet, and nobody else who waits for it, need not get one. */
  forsake(): void {
    if (!this.#place && this.#inFlight === 0) void this.end("nobody waits for it any more");
  }

  claims(): ReadonlySet<Claim> {
    return this.#claims;
  }

  /** A request of a caller who holds it. Rejects with RpcError, ChildFailure, or what it was cancelled with. */
  request(claim: Claim, method: string, params: Raw, signal: Signal): Promise<Raw> {
    return (this.#dialect as Dialect).request(claim, method, params, signal);
  }

  /** A request of our own. */
  async ask(method: string, params: Raw | undefined, signal?: Signal): Promise<Raw> {
    const lease = this.lease();
    try {
      return await (this.#dialect as Dialect).ask(method, params, signal);
    } finally {
      lease.release();
    }
  }

  /** Until it is released the connection is in use. */
  lease(): Lease {
    this.#enter();
    let held = true;
    return {
      release: () => {
        if (held) this.#leave();
        held = false;
      },
    };
  }

  /** Gives a caller's request up with `error` and tells the child. */
  cancel(claim: Claim, error: Error): void {
    this.#dialect?.cancel(claim, error);
  }

  /** Takes no further calls; ends when those under way are done. */
  retire(): Promise<void> {
    this.#retired = true;
    if (!this.#opened || this.#inFlight === 0) return this.end("its settings changed");
    return new Promise((resolve) => {
      this.#drained = resolve;
    });
  }

  end(reason: string): Promise<void> {
    this.#ending ??= this.#finish(
      "closed",
      new ChildFailure("other", reason, { unsent: this.#state === "connecting" }),
    );
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
      await this.#parts.after;
      this.#place = await pool.acquire(spec.connectTimeoutMs, signal);
      this.#place.occupy(this);
      this.#go("connecting");
      this.#since = clock.now();
      timer = clock.after(spec.connectTimeoutMs, () =>
        this.#opening.abort(slowOf(spec, this.#link?.lastWords())),
      );
      const link = await this.#dial(signal);
      const { greeting, dialect } = await this.#meet(link, signal);
      this.#greeting = greeting;
      this.#dialect = dialect;
      this.#hearing.dialect = dialect;
      link.agreed(greeting.protocolVersion);
      this.#attach(greeting, dialect);
      dialect.begin(greeting);
      await this.#greet(greeting, signal);
      signal.throwIfAborted();
      this.#opened = true;
    } catch (error) {
      const failure = (signal.aborted ? signal.reason : error) as Error;
      // Ended by others in the moment between: what has come since is not known to who ended it.
      if (this.#ending) void this.#release();
      else this.#ending = this.#finish("failed", failure);
      throw failure;
    } finally {
      timer?.cancel();
    }
  }

  async #dial(signal: AbortSignal): Promise<Link> {
    const connector = await this.#parts.connector();
    const events: LinkEvents = {
      onMessage: (message, via) => this.#peer.receive(message, via),
      onFailed: (id, failure) => this.#failed(id, failure),
      onClosed: (failure) => this.#lost({ failure, counted: false }),
    };
    this.#link = await connector.open(this.#parts.spec, events, signal);
    return this.#link;
  }

  #meet(link: Link, signal: AbortSignal): Promise<Met> {
    const { origin, clock, log } = this.#parts;
    return meet({
      peer: this.#peer,
      link,
      capabilities: origin.capabilities,
      known: this.#parts.era(),
      signal,
      clock,
      warn: (problem) => log.warn(`${this.label}: ${problem}`),
      onListChanged: (method) => this.#parts.onListChanged(this, method),
    });
  }

  #attach({ capabilities }: Greeting, dialect: Dialect): void {
    this.#line = {
      logs: members(capabilities, ["logging"])[0] !== undefined,
      ask: (method, params) => this.ask(method, params),
      notify: (method, params) => dialect.notify(method, params),
    };
    this.#parts.audience.attach(this.#line);
  }

  /** A child that cannot list is still a child; one that dies over it is none. */
  async #greet(greeting: Greeting, signal: AbortSignal): Promise<void> {
    this.#go("active");
    const lease = this.lease();
    try {
      await Promise.race([this.#parts.greet(this, greeting), aborted(signal)]);
    } catch (error) {
      if (error instanceof ChildFailure || signal.aborted) throw error;
      this.#parts.log.warn(`${this.label}: its tools could not be listed: ${(error as Error).message}`);
    }
    // Not before: what failed over its list must not look idle.
    lease.release();
  }

  #failed(id: number, failure: ChildFailure): void {
    // Should the link die in the same breath, this one still did not reach the child.
    if (failure.unsent) for (const claim of this.#claims) if (claim.id === id) claim.id = undefined;
    this.#peer.fail(id, failure);
  }

  #lost(loss: Loss): void {
    if (this.#ending) return;
    if (!this.#opened) {
      this.#peer.destroy(loss.failure);
      this.#opening.abort(loss.failure);
      return;
    }
    this.#ending = this.#finish(this.#state === "idle" ? "closed" : "failed", loss.failure, () =>
      this.#parts.onLost(this, loss),
    );
  }

  async #finish(state: "closed" | "failed", failure: Error, beforeCallersHear?: () => void): Promise<void> {
    if (this.#state !== state) this.#go(this.#state === "idle" ? "closed" : state);
    if (this.#line) this.#parts.audience.detach(this.#line);
    beforeCallersHear?.();
    this.#opening.abort(failure);
    this.#dialect?.end(failure);
    this.#peer.destroy(failure);
    await this.#release();
    this.#drained?.();
  }

  async #release(): Promise<void> {
    await this.#link?.close();
    await this.#parts.after;
    this.#place?.free();
  }

  #go(to: ConnectionState): void {
    this.#state = transition(this.#state, to);
  }

  #enter(): void {
    if (this.#inFlight++ > 0 || this.#state !== "idle" || !this.#greeting) return;
    this.#go("active");
    this.#place?.busy();
  }

  #leave(): void {
    if (--this.#inFlight > 0 || this.#state !== "active") return;
    this.#go("idle");
    if (this.#retired) void this.end("its settings changed");
    else this.#place?.idle();
  }
}
