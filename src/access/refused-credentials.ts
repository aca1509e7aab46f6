/**
 * Counts refused credentials: unknown or expired keys, tokens and cookies. The first of its kind in a minute
 * is reported at once, the others as one event with their number, so that nobody can fill the logs. Limits
 * how often a network may guess. A valid credential is never refused here: only credentials that were found
 * invalid are counted.
 */
import type { IncomingMessage } from "node:http";
import type { Clock, Timer } from "../kernel/clock.ts";
import type { CredentialRefused, Events } from "../kernel/events.ts";
import type { Tries } from "../store/tries.ts";
import type { AddressedRequest, AddressOf } from "./client-address.ts";
import { counterOf, networkOf } from "./throttle.ts";

export interface RefusedCredential {
  readonly by: CredentialRefused["by"];
  /** Name of an endpoint that exists. Undefined at the admin API, and for unknown endpoints. */
  readonly endpoint?: string | undefined;
}

interface Guesses {
  readonly since: number;
  count: number;
}

const MINUTE_MS = 60_000;
/**
 * Kinds of refusals that are reported apart within a minute. The others are reported without network and
 * endpoint.
 */
const MAX_GROUPS = 200;
const WINDOW_MS = 15 * MINUTE_MS;
/** As for failed logins of one address. */
const MAX_GUESSES = 50;
const MAX_NETWORKS = 10_000;
/** Guesses that are counted in the store in one second, so that many networks cannot flood it. */
const MAX_SHARED_A_SECOND = 20;

export class RefusedCredentials {
  readonly #events: Pick<Events, "emit">;
  readonly #clock: Clock;
  readonly #addressOf: AddressOf;
  /** Those that were not reported yet have a count. */
  readonly #groups = new Map<string, CredentialRefused & { count: number }>();
  /** By network, those that began first in front. */
  readonly #guesses = new Map<string, Guesses>();
  #timer: Timer | undefined;
  readonly #tries: Tries | undefined;
  #second = { since: 0, count: 0 };

  constructor(
    { events, clock, tries }: { events: Pick<Events, "emit">; clock: Clock; tries?: Tries | undefined },
    addressOf: AddressOf,
  ) {
    this.#events = events;
    this.#tries = tries;
    this.#clock = clock;
    this.#addressOf = addressOf;
  }

  /**
   * Counts a refusal that is not limited: an expired access token or cookie must get the 401 that makes its
   * client log in again.
   */
  count(request: AddressedRequest, refused: RefusedCredential): void {
    this.#report(networkOf(this.#addressOf(request)), refused);
  }

  /** Returns the seconds to wait if the network has guessed too often. Undefined if it has not. */
  limit(request: AddressedRequest, refused: RefusedCredential): number | undefined {
    const network = networkOf(this.#addressOf(request));
    this.#report(network, refused);
    const now = this.#clock.now();
    for (const [old, { since }] of this.#guesses) {
      if (since > now - WINDOW_MS && this.#guesses.size < MAX_NETWORKS) break;
      this.#guesses.delete(old);
    }
    const guesses = this.#guesses.get(network) ?? { since: now, count: 0 };
    if (guesses.count === 0) this.#guesses.set(network, guesses);
    guesses.count += 1;
    if (guesses.count <= MAX_GUESSES) return undefined;
    return Math.max(1, Math.ceil((guesses.since + WINDOW_MS - now) / 1_000));
  }

  /**
   * The same over all gateways on the store. Without the store, or with very many guesses, only those here
   * are counted.
   */
  limitAtAll(
    request: AddressedRequest,
    refused: RefusedCredential,
  ): number | undefined | Promise<number | undefined> {
    const here = this.limit(request, refused);
    if (here !== undefined || !this.#tries || !this.#isShared()) return here;
    const counter = counterOf(`guess ${networkOf(this.#addressOf(request))}`, MAX_GUESSES, WINDOW_MS);
    return this.#tries.take([counter]).then(
      ({ waitMs }) => (waitMs > 0 ? Math.ceil(waitMs / 1_000) : undefined),
      () => undefined,
    );
  }

  #isShared(): boolean {
    const now = this.#clock.now();
    if (now - this.#second.since >= 1_000) this.#second = { since: now, count: 0 };
    this.#second.count += 1;
    return this.#second.count <= MAX_SHARED_A_SECOND;
  }

  /** Reports what was counted. */
  flush(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    const counted = [...this.#groups.values()].filter(({ count }) => count > 0);
    this.#groups.clear();
    for (const event of counted) this.#events.emit(event);
  }

  #report(network: string, { by, endpoint }: RefusedCredential): void {
    const at = Date.now();
    const key = JSON.stringify([network, by, endpoint]);
    const known = this.#groups.get(key) ?? this.#groups.get(by);
    if (known) {
      this.#groups.set(known.address === undefined ? by : key, { ...known, at, count: known.count + 1 });
      return;
    }
    const apart = this.#groups.size < MAX_GROUPS;
    const event: CredentialRefused = {
      type: "credential",
      at,
      since: at,
      by,
      count: 1,
      ...(apart && { address: network }),
      ...(apart && endpoint !== undefined && { endpoint }),
    };
    this.#groups.set(apart ? key : by, { ...event, count: 0 });
    this.#events.emit(event);
    this.#timer ??= this.#clock.after(MINUTE_MS, () => this.flush());
  }
}

/** A key has a header of its own. A bearer token may be a key as well; its beginning tells. */
export function credentialKind({ headers }: Pick<IncomingMessage, "headers">): "key" | "token" {
  const { authorization } = headers;
  return authorization === undefined || /^Bearer +(?:mmcp_|sk_mt_)/i.test(authorization) ? "key" : "token";
}
