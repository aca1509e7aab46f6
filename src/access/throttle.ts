/**
 * Limits failed logins, over all gateways on a store. Time is passed in. A running attempt counts as failed
 * until it succeeds.
 */
import { createHash } from "node:crypto";
import type { Counter, Tries } from "../store/tries.ts";

const WINDOW_MS = 15 * 60_000;
const LIMITS = { both: 10, address: 50, account: 100 } as const;
/** Beyond this number of counters the oldest are dropped, so that memory stays bounded during an attack. */
const MAX_COUNTERS = 100_000;

type Attempt =
  | { readonly ok: true; succeeded(): void }
  | { readonly ok: false; readonly retryAfterMs: number };

export class LoginThrottle {
  /** Times of failures, oldest first, by counter. */
  readonly #failures = new Map<string, number[]>();

  /** `account` is the address as it was typed, whether such an account exists or not. */
  attempt(account: string, address: string, now: number): Attempt {
    const counters = countersOf(account, address);
    const waits = counters.map(([name, limit]) => this.#wait(name, limit, now));
    const retryAfterMs = Math.max(...waits);
    if (retryAfterMs > 0) return { ok: false, retryAfterMs };
    for (const [name] of counters) this.#add(name, now);
    const succeeded = (): void => {
      for (const [name] of counters) this.#remove(name, now);
    };
    return { ok: true, succeeded };
  }

  #wait(name: string, limit: number, now: number): number {
    const times = this.#failures.get(name)?.filter((at) => at > now - WINDOW_MS) ?? [];
    const oldest = times[times.length - limit];
    return oldest === undefined ? 0 : oldest + WINDOW_MS - now;
  }

  #add(name: string, now: number): void {
    const times = this.#failures.get(name)?.filter((at) => at > now - WINDOW_MS) ?? [];
    // Deleted and set again, so that the map stays in the order of the last failure.
    this.#failures.delete(name);
    this.#failures.set(name, [...times, now]);
    for (const [old, [...last]] of this.#failures) {
      const over = (last.at(-1) ?? 0) <= now - WINDOW_MS;
      if (!over && this.#failures.size <= MAX_COUNTERS) break;
      this.#failures.delete(old);
    }
  }

  #remove(name: string, at: number): void {
    const times = this.#failures.get(name) ?? [];
    const index = times.indexOf(at);
    if (index >= 0) times.splice(index, 1);
    if (times.length === 0) this.#failures.delete(name);
  }
}

function countersOf(account: string, address: string): readonly (readonly [string, number])[] {
  const network = networkOf(address);
  return [
    [`both ${network} ${account}`, LIMITS.both],
    [`address ${network}`, LIMITS.address],
    [`account ${account}`, LIMITS.account],
  ];
}

/**
 * The same over all gateways on the store. What this process refuses by itself costs no statement. Rejects
 * without the store: nobody could log in then.
 */
export async function attemptAtAll(
  throttle: LoginThrottle,
  tries: Tries | undefined,
  [account, address, now]: readonly [account: string, address: string, now: number],
): Promise<Attempt> {
  const here = throttle.attempt(account, address, now);
  if (!here.ok || !tries) return here;
  const counters = countersOf(account, address).map(([name, limit]) =>
    counterOf(`login ${name}`, limit, WINDOW_MS),
  );
  const tried = await tries.take(counters).catch((error: unknown) => {
    here.succeeded();
    throw error;
  });
  const { at } = tried;
  if (at === undefined) return { ok: false, retryAfterMs: tried.waitMs };
  const succeeded = (): void => {
    here.succeeded();
    const keys = counters.map(({ key }) => key);
    tries.giveBack(keys, at).catch(() => {});
  };
  return { ok: true, succeeded };
}

/** The name may contain addresses of people: the store gets only a hash of it. */
export function counterOf(name: string, limit: number, windowMs: number): Counter {
  return { key: createHash("sha256").update(name).digest("base64url"), limit, windowMs };
}

/** One household has 2^64 IPv6 addresses, so a /64 network counts as one address. */
export function networkOf(address: string): string {
  const plain = address
    .replace(/^::ffff:(?=\d+\.)/i, "")
    .replace(/%.*$/, "")
    .toLowerCase();
  if (!plain.includes(":")) return plain;
  const [head = "", tail] = plain.split("::");
  const groups = head.split(":").filter(Boolean);
  const after = tail?.split(":").filter(Boolean) ?? [];
  const zeros =
    tail === undefined ? [] : Array<string>(Math.max(0, 8 - groups.length - after.length)).fill("0");
  return [...groups, ...zeros, ...after]
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ""))
    .join(":");
}
