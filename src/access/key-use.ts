/** Records when keys were last used: buffered in memory and written every 30 seconds in one transaction. */
import type { Clock, Timer } from "../kernel/clock.ts";
import type { Log } from "../kernel/log.ts";
import type { Store } from "../store/store.ts";
import { API_KEY, API_KEY_USE } from "./api-key.ts";

const EVERY_MS = 30_000;

export class KeyUse {
  readonly #store: Pick<Store, "records">;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #now: () => number;
  #used = new Map<string, number>();
  #timer: Timer | undefined;

  constructor(
    store: Pick<Store, "records">,
    { clock, log, now = Date.now }: { clock: Clock; log: Log; now?: () => number },
  ) {
    this.#store = store;
    this.#clock = clock;
    this.#log = log;
    this.#now = now;
  }

  used(key: string): void {
    this.#used.set(key, this.#now());
    this.#timer ??= this.#clock.after(EVERY_MS, () => void this.flush());
  }

  /** If the write fails, the next one includes these keys again. */
  async flush(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = undefined;
    const used = this.#used;
    if (used.size === 0) return;
    this.#used = new Map();
    try {
      const existing = new Set((await this.#store.records.list(API_KEY)).map(({ id }) => id));
      const changes = [...used].flatMap(([id, at]) =>
        existing.has(id) ? [{ put: { kind: API_KEY_USE, id, value: new Date(at).toISOString() } }] : [],
      );
      if (changes.length > 0) await this.#store.records.write(changes);
    } catch (error) {
      this.#used = new Map([...used, ...this.#used]);
      this.#log.warn(`the last use of keys could not be written: ${(error as Error).message}`);
    }
  }
}
