/** Counts failed logins. Pure but for its memory: time is passed in. An attempt under way counts as failed until it is known not to be. */

const WINDOW_MS = 15 * 60_000;
const LIMITS = { both: 10, address: 50, account: 100 } as const;
/** Beyond so many names the oldest are forgotten: memory has a bound, whoever guesses. */
const MOST_NAMES = 100_000;

type Held = { readonly ok: true; succeeded(): void } | { readonly ok: false; readonly retryAfterMs: number };

export class LoginThrottle {
  /** Times of failures, oldest first, by what they count for. */
  readonly #failures = new Map<string, number[]>();

  /** `account`: as it was typed, whether there is such an account or not. */
  attempt(account: string, address: string, now: number): Held {
    const network = networkOf(address);
    const names: readonly [string, number][] = [
      [`both ${network} ${account}`, LIMITS.both],
      [`address ${network}`, LIMITS.address],
      [`account ${account}`, LIMITS.account],
    ];
    const waits = names.map(([name, limit]) => this.#wait(name, limit, now));
    const retryAfterMs = Math.max(...waits);
    if (retryAfterMs > 0) return { ok: false, retryAfterMs };
    for (const [name] of names) this.#add(name, now);
    const succeeded = (): void => {
      for (const [name] of names) this.#takeBack(name, now);
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
    // Set anew, so that the map stays in the order of the last failure.
    this.#failures.delete(name);
    this.#failures.set(name, [...times, now]);
    for (const [old, [...kept]] of this.#failures) {
      const over = (kept.at(-1) ?? 0) <= now - WINDOW_MS;
      if (!over && this.#failures.size <= MOST_NAMES) break;
      this.#failures.delete(old);
    }
  }

  #takeBack(name: string, at: number): void {
    const times = this.#failures.get(name) ?? [];
    const index = times.indexOf(at);
    if (index >= 0) times.splice(index, 1);
    if (times.length === 0) this.#failures.delete(name);
  }
}

/** One household has 2^64 addresses of IPv6: they count as one. */
function networkOf(address: string): string {
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
