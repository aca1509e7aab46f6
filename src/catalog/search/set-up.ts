/** Creates the search that the config asks for. Connects to an embedder only if one is configured. */
import { join } from "node:path";
import type { Clock } from "../../kernel/clock.ts";
import type { Log } from "../../kernel/log.ts";
import { createEmbedder } from "./embedder.ts";
import { createSearch } from "./search.ts";
import { type SettingsOverrides, settingsWith } from "./settings.ts";
import type { SearchStrategy } from "./strategy.ts";
import { VectorCache } from "./vector-cache.ts";

/** How long a search waits for the embedder before it uses the built-in vectors. */
const EMBEDDER_TIMEOUT_MS = 1_500;

export interface SearchSetUp {
  readonly settings?: SettingsOverrides | undefined;
  /** The key is sent only to this URL. */
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
  const client = createEmbedder({ url: new URL(url), model, key, timeoutMs: EMBEDDER_TIMEOUT_MS }, clock);
  const cache = new VectorCache(join(home, "cache", "embeddings"), client.id);
  return createSearch(settingsWith(settings), { embedder: { embedder: client, cache, clock, log } });
}
