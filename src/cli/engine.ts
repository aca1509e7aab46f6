/** Builds the engine from settings and config, for serving and for single commands. */
import { isDeepStrictEqual } from "node:util";
import { ReplaceableSearch } from "../catalog/search/replaceable.ts";
import type { Settings } from "../config/flags.ts";
import type { Config } from "../config/spec.ts";
import { createEngine } from "../engine/create-engine.ts";
import type { Engine, EngineOptions } from "../engine/engine.ts";
import { systemClock as clock } from "../engine/system-clock.ts";
import { homeFolder } from "../home/home.ts";
import type { ExecutorChoice } from "../sandbox/choose.ts";
import { chooseSearch } from "./choose-search.ts";
import { configLayers } from "./layers.ts";

export function engineFor(
  settings: Settings,
  config: Config,
  more: Pick<EngineOptions, "log" | "provision" | "userReadsLog" | "notify" | "allow">,
): Engine {
  const { maxMessage: maxMessageBytes, pin } = settings;
  const home = homeFolder(process.env);
  const searchFor = (from: Config) => chooseSearch(settings, from, { home, clock, log: more.log });
  const search = new ReplaceableSearch(searchFor(config));
  let { embedder } = config;
  const engine = createEngine({
    ...more,
    config,
    home,
    maxMessageBytes,
    search,
    pin,
    code: executorChoice(settings),
    layers: configLayers(settings),
  });
  return {
    ...engine,
    apply(next) {
      if (!isDeepStrictEqual(embedder, next.embedder)) search.replace(searchFor(next));
      ({ embedder } = next);
      engine.apply(next);
    },
  };
}

/** The sandbox settings for code; false if code is turned off. */
export function executorChoice(settings: Settings): ExecutorChoice | false {
  const { noCode, runtimeProfile: profile, runtimeBackend: backend, wasmEnabled } = settings;
  return noCode ? false : { profile, backend, wasmEnabled };
}
