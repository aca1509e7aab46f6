/** What clients said at initialize: stored once for each text, and the last ones are in memory. */
import type { Clock } from "../kernel/clock.ts";
import { Lru } from "../kernel/lru.ts";
import { asRaw, type Raw } from "../kernel/raw.ts";
import { StoreError } from "../store/error.ts";
import type { Replicas } from "../store/replicas.ts";
import { digestOf } from "./session-id.ts";

/** A longer text is not stored, and its session cannot go on elsewhere. */
const MAX_BYTES = 32 * 1024;
/** Clients choose the texts, so these are 32 MiB at most. */
const MAX_TEXTS = 1_000;
/** The store forgets texts that nobody stored for long. Those in use are stored again after this time. */
const AGAIN_MS = 86_400_000;
/** The digest of no text. */
export const NOT_STORED = "0".repeat(32);

interface Known {
  readonly said: Raw;
  readonly storedAt: number;
}

export class SaidTexts {
  readonly #replicas: Pick<Replicas, "putSaid" | "said">;
  readonly #clock: Clock;
  /** By digest. */
  readonly #known = new Lru<string, Known>(MAX_TEXTS);

  constructor(replicas: Pick<Replicas, "putSaid" | "said">, clock: Clock) {
    this.#replicas = replicas;
    this.#clock = clock;
  }

  /**
   * Returns the digest. With the store away the session is opened nevertheless: it can be taken up once
   * somebody has stored the text.
   */
  async keep(said: Raw): Promise<string> {
    if (said.length > MAX_BYTES) return NOT_STORED;
    const digest = digestOf(said);
    const now = this.#clock.now();
    const known = this.#known.get(digest);
    if (known && now - known.storedAt < AGAIN_MS) return digest;
    try {
      await this.#replicas.putSaid(digest, said.toString());
      // A copy, because the text is a part of a request that may be much larger.
      this.#known.set(digest, { said: asRaw(Buffer.from(said)), storedAt: now });
    } catch (error) {
      if (!StoreError.is(error)) throw error;
    }
    return digest;
  }

  async read(digest: string): Promise<Raw | undefined> {
    const known = this.#known.get(digest);
    if (known) return known.said;
    const text = await this.#replicas.said(digest);
    if (text === undefined) return undefined;
    const said = asRaw(Buffer.from(text));
    this.#known.set(digest, { said, storedAt: Number.NEGATIVE_INFINITY });
    return said;
  }
}
