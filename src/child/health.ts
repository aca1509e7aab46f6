/** What is known about the health of one server: its breaker, its crashes, and which failures were already counted. */
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
import type { Claim, Death } from "./claim.ts";
import type { ChildFailure } from "./link.ts";
import {
  type Crashes,
  crashed,
  died,
  type Episode,
  grantsRespawn,
  hear,
  joined,
  mayRepeat,
  noCrashes,
  type Word,
} from "./retry.ts";

interface Lost {
  readonly claims: readonly Claim[];
  readonly failure: ChildFailure;
  /** The failure behind it is recorded already. */
  readonly counted: boolean;
  /** The death that this connection was the respawn of. */
  readonly before: Death | undefined;
  readonly now: number;
}

const OVER: Episode = { open: 0, recorded: true };

export class Health {
  readonly #options: () => BreakerOptions;
  readonly #onPhase: ((phase: Breaker["phase"]) => void) | undefined;
  #breaker: Breaker = closed;
  #crashes: Crashes = noCrashes;
  #lastFailure: string | undefined;

  constructor(options: () => BreakerOptions, onPhase?: (phase: Breaker["phase"]) => void) {
    this.#options = options;
    this.#onPhase = onPhase;
  }

  get lastFailure(): string | undefined {
    return this.#lastFailure;
  }

  /** Milliseconds until a caller would be let through; 0: now. */
  blockedFor(now: number): number {
    return retryAfterMs(this.#breaker, now);
  }

  /** For a failure that no caller caused. */
  get current(): Breaker {
    return this.#breaker;
  }

  get open(): boolean {
    return this.#breaker.phase !== "closed";
  }

  admit(server: string, now: number): Breaker {
    const admitted = admit(this.#breaker, now);
    if (admitted) {
      this.#become(admitted);
      return admitted;
    }
    const wait = retryAfterMs(this.#breaker, now);
    throw new MetaMcpError(
      "server_unavailable",
      `${server} is blocked after repeated failures (last: ${this.#lastFailure ?? "unknown"}). Try again in ${Math.ceil(wait / 1000)} s, or use another server.`,
      { server, retryAfterMs: wait },
    );
  }

  settle(admitted: Breaker, verdict: HealthVerdict, now: number): void {
    this.#become(settle(this.#breaker, { admitted, verdict, now }, this.#options()));
    if (verdict === "healthy" && !this.open) this.#lastFailure = undefined;
  }

  /** One failure that counts. */
  failed(admitted: Breaker, reason: string, now: number): void {
    this.#lastFailure = reason;
    this.settle(admitted, "sick", now);
  }

  /** Remembered for a person; does not count. */
  noted(reason: string): void {
    this.#lastFailure = reason;
  }

  /**
   * A connection died under `claims`: decides for each whether it goes on. Must run before they hear of it.
   */
  lost(spec: ServerSpec, loss: Lost): Death {
    const { claims, failure, counted, before, now } = loss;
    const respawn = grantsRespawn(this.#crashes, { vital: spec.criticality === "vital", now });
    const { episode, failure: counts } = died(before?.episode, failure.sessionLost ? 0 : claims.length);
    if (before) before.episode = OVER;
    const death: Death = { respawn, episode: counted ? { ...episode, recorded: true } : episode };
    for (const claim of claims) decide(claim, death, { failure, retry: spec.retry });
    if (failure.sessionLost) return death;
    this.#crashes = crashed(this.#crashes, { restarted: claims.some((claim) => claim.again), now });
    this.#lastFailure = failure.message;
    if (counts && !counted) this.failed(newest(claims), failure.message, now);
    return death;
  }

  /** The claim was lost by a death that others have heard of already. */
  lostToo(spec: ServerSpec, claim: Claim, { death, failure }: { death: Death; failure: ChildFailure }): void {
    death.episode = joined(death.episode);
    decide(claim, death, { failure, retry: spec.retry });
  }

  /** What became of a claim after a death. */
  tell(death: Death | undefined, word: Word, admitted: Breaker, now: number): void {
    if (!death) return;
    const { episode, failure } = hear(death.episode, word);
    death.episode = episode;
    if (failure) this.failed(admitted, this.#lastFailure ?? "it died", now);
  }

  /** New settings: the past says nothing about them. The epoch moves on, so that late answers do not count either. */
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

function decide(
  claim: Claim,
  death: Death,
  { failure, retry }: { failure: ChildFailure; retry: ServerSpec["retry"] },
): void {
  const unsent = failure.unsent || claim.id === undefined;
  if (!unsent) claim.sent++;
  claim.again = mayRepeat(
    { repeat: claim.repeat, over: false, unsent, tries: claim.tries, sent: claim.sent },
    { respawn: death.respawn, retry },
  );
  claim.death = death;
}

function newest(claims: readonly Claim[]): Breaker {
  return claims.reduce<Breaker>(
    (best, { admitted }) => (admitted.epoch > best.epoch ? admitted : best),
    claims[0]?.admitted ?? closed,
  );
}
