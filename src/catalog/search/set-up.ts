/** A search as the settings want it. Borrows meaning from an embedder only where one was configured. */
import { join } from "node:path";
import type { Clock } from "../../kernel/clock.ts";
import type { Log } from "../../kernel/log.ts";
import { createEmbedder } from "./embedder.ts";
import { createSearch } from "./search.ts";
import { type GivenSettings, settingsWith } from "./settings.ts";
import type { SearchStrategy } from "./strategy.ts";
import { VectorCache } from "./vector-cache.ts";

/** How long a question waits for the embedder before the built-in vectors answer. */
const PATIENCE_MS = 1_500;

export interface SearchSetUp {
  readonly settings?: GivenSettings | undefined;
  /** The key is sent to this address and nowhere else. */
  readonly embedder?:
    | { readonly url: string; readonly model: string; readonly key: string | undefined }
    | undefined;
  readonly home: string;
  readonly clock: Clock;
  readonly log: Log;
}

export function setUpSearch({ settings = {}, embedder, home, clock, log }: SearchSetUp): SearchStrategy {
  if (!embedder) return createSearch(settingsWith(settings));
  const { url, model, key } = embedder;
  const lent = createEmbedder({ url: new URL(url), model, key, timeoutMs: PATIENCE_MS }, clock);
  const cache = new VectorCache(join(home, "cache", "embeddings"), lent.id);
  return createSearch(settingsWith(settings), { lender: { embedder: lent, cache, clock, log } });
}
