/**
 * The health of one server: its circuit breaker, its recent crashes and its last failure. Decides which lost
 * calls are retried.
 */
import type { ServerSpec } from "../config/spec.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import {
  admit,
  type Breaker,
  type BreakerOptions,
  closed,
  type HealthVerdict,
  retryAfterMs,
  settle,
} from "./breaker.ts";
import type { Claim, Crash } from "./claim.ts";
import type { ChildFailure } from "./link.ts";
import {
  addCall,
  type CallOutcome,
  type CrashHistory,
  crashed,
  grantsRespawn,
  mayRepeat,
  noCrashes,
  pendingCrash,
  restartsWithoutCall,
  SETTLED,
  settleCall,
} from "./retry.ts";

interface ConnectionLoss {
  readonly claims: readonly Claim[];
  readonly failure: ChildFailure;
  /** The cause was already counted as a failure. */
  readonly counted: boolean;
  /** The crash after which the lost connection was opened. */
  readonly before: Crash | undefined;
  readonly now: number;
}

type Failure = Pick<ChildFailure, "message" | "needsFix"> & Partial<Pick<ChildFailure, "output">>;

export class Health {
  readonly #options: () => BreakerOptions;
  readonly #onPhase: ((phase: Breaker["phase"]) => void) | undefined;
  #breaker: Breaker = closed;
  #crashes: CrashHistory = noCrashes;
  #lastFailure: Failure | undefined;

  constructor(options: () => BreakerOptions, onPhase?: (phase: Breaker["phase"]) => void) {
    this.#options = options;
    this.#onPhase = onPhase;
  }

  get lastFailure(): string | undefined {
    return this.#lastFailure?.message;
  }

  /** The last failure without its period, for use inside a sentence. */
  get lastFailureClause(): string {
    return (this.lastFailure ?? "unknown").replace(/\.$/, "");
  }

  /** Milliseconds until a caller would be admitted; 0 if it would be now. */
  blockedFor(now: number): number {
    return retryAfterMs(this.#breaker, now);
  }

  /** What to settle with if no caller caused the event. */
  get current(): Breaker {
    return this.#breaker;
  }

  get open(): boolean {
    return this.#breaker.phase !== "closed";
  }

  /** Throws `server_unavailable` while the breaker is open. */
  admit(server: string, now: number): Breaker {
    const admitted = admit(this.#breaker, now);
    if (admitted) {
      this.#become(admitted);
      return admitted;
    }
    const wait = retryAfterMs(this.#breaker, now);
    const needsFix = this.#lastFailure?.needsFix ?? false;
    throw new MetaMcpError(
      "server_unavailable",
      `${server} is blocked after repeated failures (last: ${this.lastFailureClause}). Use another server, or ${needsFix ? "fix this" : "wait"}.`,
      { server, retryAfterMs: wait, retryable: !needsFix, output: this.#lastFailure?.output },
    );
  }

  settle(admitted: Breaker, verdict: HealthVerdict, now: number): void {
    this.#become(settle(this.#breaker, { admitted, verdict, now }, this.#options()));
    if (verdict === "healthy" && !this.open) this.#lastFailure = undefined;
  }

  /** Counts one failure. */
  failed(admitted: Breaker, failure: Failure, now: number): void {
    this.#lastFailure = failure;
    this.settle(admitted, "sick", now);
  }

  /** Shows the reason to people without counting a failure. */
  note(message: string): void {
    this.#lastFailure = { message, needsFix: true };
  }

  /**
   * A connection was lost under `claims`: decides for each of them whether it is retried. Must run before the
   * calls fail.
   */
  connectionLost(spec: ServerSpec, loss: ConnectionLoss): Crash {
    const { claims, failure, counted, before, now } = loss;
    const respawn = grantsRespawn(this.#crashes, { vital: spec.criticality === "vital", now });
    const calls = failure.sessionLost ? 0 : claims.length;
    const { pending, failure: counts } = pendingCrash(before?.pending, calls);
    if (before) before.pending = SETTLED;
    const crash: Crash = {
      respawn,
      restart: false,
      pending: counted ? { ...pending, recorded: true } : pending,
    };
    const restarts = claims.map((claim) => decide(claim, crash, { failure, retry: spec.retry }));
    if (failure.sessionLost) return crash;
    const retried = claims.some((claim) => claim.retry);
    if (!retried && restarts.includes(true)) addRestart(crash);
    this.#crashes = crashed(this.#crashes, { restarted: retried || crash.restart, now });
    this.#lastFailure = failure;
    if (counts && !counted) this.failed(newest(claims), failure, now);
    return crash;
  }

  /** One more request was lost by a crash that others have already met. */
  lostToo(spec: ServerSpec, claim: Claim, { crash, failure }: { crash: Crash; failure: ChildFailure }): void {
    crash.pending = addCall(crash.pending);
    const restarts = decide(claim, crash, { failure, retry: spec.retry });
    if (restarts && !crash.restart) addRestart(crash);
  }

  /** The outcome of a call after a crash is known. */
  settleCrash(crash: Crash | undefined, outcome: CallOutcome, admitted: Breaker, now: number): void {
    if (!crash) return;
    const { pending, failure } = settleCall(crash.pending, outcome);
    crash.pending = pending;
    if (failure) this.failed(admitted, this.#lastFailure ?? { message: "it died", needsFix: false }, now);
  }

  /**
   * Forgets past failures, because they happened with other settings. The new epoch makes late results not
   * count either.
   */
  forget(): void {
    this.#become({ phase: "closed", epoch: this.#breaker.epoch + 1, failures: 0 });
    this.#crashes = noCrashes;
    this.#lastFailure = undefined;
  }

  #become(breaker: Breaker): void {
    const { phase } = this.#breaker;
    this.#breaker = breaker;
    if (breaker.phase !== phase) this.#onPhase?.(breaker.phase);
  }
}

/**
 * Writes into the claim whether it is retried. Returns whether the server is restarted for it although it is
 * not.
 */
function decide(
  claim: Claim,
  crash: Crash,
  { failure, retry }: { failure: ChildFailure; retry: ServerSpec["retry"] },
): boolean {
  const unsent = !claim.begun && (failure.unsent || claim.id === undefined);
  if (!unsent) claim.sent++;
  claim.lost = true;
  const attempt = { repeat: claim.repeat, over: false, unsent, tries: claim.tries, sent: claim.sent };
  const rule = { respawn: crash.respawn, retry };
  claim.retry = mayRepeat(attempt, rule);
  claim.crash = crash;
  return !claim.retry && restartsWithoutCall(attempt, rule);
}

/** The restart counts like one more call whose outcome is open. */
function addRestart(crash: Crash): void {
  crash.restart = true;
  crash.pending = addCall(crash.pending);
}

/** Of all breakers that the claims were admitted by, the one with the highest epoch. */
function newest(claims: readonly Claim[]): Breaker {
  return claims.reduce<Breaker>(
    (best, { admitted }) => (admitted.epoch > best.epoch ? admitted : best),
    claims[0]?.admitted ?? closed,
  );
}
