/** A search as the environment sets it up. The key of an embedder is read from its own variable and no other. */
import { join } from "node:path";
import { type Env, homeFolder } from "../../home/home.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Log } from "../../kernel/log.ts";
import type { Lender } from "./borrowed-meaning.ts";
import { createEmbedder, type EmbedderSettings } from "./embedder.ts";
import { createSearch } from "./search.ts";
import { settingsFrom } from "./settings.ts";
import type { SearchStrategy } from "./strategy.ts";
import { VectorCache } from "./vector-cache.ts";

const DEFAULT_TIMEOUT_MS = 1_500;
const LONGEST_TIMEOUT_MS = 60_000;

export function searchFrom(env: Env, clock: Clock, log: Log): SearchStrategy {
  const embedder = embedderSettings(env, log);
  return createSearch(settingsFrom(env), embedder ? { lender: lenderOf(embedder, env, clock, log) } : {});
}

/** Undefined unless both an address and a model are given. */
export function embedderSettings(env: Env, log: Log): EmbedderSettings | undefined {
  const address = env["METAMCP_SEARCH_EMBEDDER_URL"]?.trim();
  const model = env["METAMCP_SEARCH_EMBEDDER_MODEL"]?.trim();
  if (!address) return undefined;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (!model || !url || !/^https?:$/.test(url.protocol)) {
    log.warn("embedder is not used: METAMCP_SEARCH_EMBEDDER_URL wants an http address, _MODEL a name");
    return undefined;
  }
  const timeoutMs = Number(env["METAMCP_SEARCH_EMBEDDER_TIMEOUT_MS"] || DEFAULT_TIMEOUT_MS);
  return {
    url,
    model,
    key: env["METAMCP_SEARCH_EMBEDDER_KEY"]?.trim() || undefined,
    timeoutMs: timeoutMs > 0 && timeoutMs <= LONGEST_TIMEOUT_MS ? timeoutMs : DEFAULT_TIMEOUT_MS,
  };
}

function lenderOf(settings: EmbedderSettings, env: Env, clock: Clock, log: Log): Lender {
  const embedder = createEmbedder(settings, clock);
  const cache = new VectorCache(join(homeFolder(env), "cache", "embeddings"), embedder.id);
  return { embedder, cache, clock, log };
}
