/**
 * What failed connects, lost connections and lost requests of one child mean: logs them, counts them in its
 * health, and lets the retry rule decide about the calls. Opens and ends no connection.
 */
import type { Clock } from "../kernel/clock.ts";
import type { Log } from "../kernel/log.ts";
import type { Breaker } from "./breaker.ts";
import type { Claim, Crash } from "./claim.ts";
import type { Connection } from "./connection.ts";
import { type HowToLogIn, loginAdvice } from "./failure-text.ts";
import type { Health } from "./health.ts";
import { ChildFailure, type Loss } from "./link.ts";
import type { CallOutcome } from "./retry.ts";

export interface LossesParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly howToLogIn?: HowToLogIn | undefined;
}

/** The part of a connection that matters for its loss. */
export type Losable = Pick<Connection, "label" | "spec" | "state" | "claims">;

export class Losses {
  readonly #health: Health;
  readonly #parts: LossesParts;
  /** The pending crash after which a connection was opened. */
  readonly #respawnOf = new WeakMap<Losable, Crash>();
  #lastCrash: Crash | undefined;
  #lostSinceConnect = false;

  constructor(health: Health, parts: LossesParts) {
    this.#health = health;
    this.#parts = parts;
  }

  /** Whether a connect that begins is a restart: the first one after a connection was lost. */
  takeRestart(): boolean {
    const restart = this.#lostSinceConnect;
    this.#lostSinceConnect = false;
    return restart;
  }

  /** A connection is being opened. If it fails or is lost too, that belongs to the crash before it. */
  opening(connection: Losable): void {
    if (this.#lastCrash?.pending.openCalls) this.#respawnOf.set(connection, this.#lastCrash);
  }

  /** Counts as one failure, for all callers that waited for the connect. */
  connectFailed(connection: Losable, error: unknown, admitted: Breaker | undefined): void {
    // A closed connection was ended by MetaMCP, or got no slot in the pool.
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
    const crash = this.#respawnOf.get(connection);
    const by = admitted ?? this.#health.current;
    if (crash?.pending.openCalls) this.#health.settleCrash(crash, "failed", by, clock.now());
    else this.#health.failed(by, error, clock.now());
  }

  /**
   * A connection that was opened is ready. If it is a restart without a call, the crash before it does not
   * count.
   */
  connected(connection: Losable): void {
    const crash = this.#respawnOf.get(connection);
    if (crash?.restart) this.#settle(crash, "recovered");
  }

  /**
   * A connection ended by itself. Decides for each of its calls whether it is retried. Returns whether to
   * restart without a call.
   */
  connectionLost(connection: Losable, loss: Loss): boolean {
    const { log } = this.#parts;
    const server = connection.label;
    this.#lostSinceConnect = true;
    if (connection.state === "closed") {
      log.info(`${server}: exited while idle: ${loss.failure.message}`, { server });
      return false;
    }
    const claims = [...connection.claims()];
    log.warn(`${server}: lost: ${loss.failure.message}`, { server, calls: claims.length });
    return this.#recordCrash(connection, claims, loss).restart;
  }

  /** One request was lost on a link that stays open (HTTP). Decides whether its call is retried. */
  requestLost(connection: Losable, claim: Claim, failure: ChildFailure): Crash {
    if (claim.linkCrash) {
      this.#health.lostToo(connection.spec, claim, { crash: claim.linkCrash, failure });
      return claim.linkCrash;
    }
    const crash = this.#recordCrash(connection, [claim], { failure, counted: false });
    for (const other of connection.claims()) if (other !== claim) other.linkCrash ??= crash;
    return crash;
  }

  /** The server requires login. This says nothing about its health, but a person must act. */
  unauthorised({ label, spec }: Pick<Losable, "label" | "spec">, failure: ChildFailure): void {
    const why = loginAdvice(failure, spec, this.#parts.howToLogIn?.(spec));
    this.#health.note(`auth_required: ${why}`);
    this.#parts.log.warn(`${label}: not authorised: ${why}`, { server: label });
  }

  #settle(crash: Crash, outcome: CallOutcome): void {
    this.#health.settleCrash(crash, outcome, this.#health.current, this.#parts.clock.now());
  }

  #recordCrash(connection: Losable, claims: readonly Claim[], loss: Loss): Crash {
    const before = this.#respawnOf.get(connection);
    const now = this.#parts.clock.now();
    this.#lastCrash = this.#health.connectionLost(connection.spec, { ...loss, claims, before, now });
    return this.#lastCrash;
  }
}
