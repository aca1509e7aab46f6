/** The engine as settings and config want it: for serving, and for one command. */
import type { Settings } from "../config/flags.ts";
import type { Config } from "../config/spec.ts";
import { homeFolder } from "../home/home.ts";
import { createEngine, type Engine, type EngineOptions } from "../main.ts";
import type { ExecutorChoice } from "../sandbox/choose.ts";
import { systemClock as clock } from "../system-clock.ts";
import { chooseSearch } from "./ranking.ts";

export function engineFor(
  settings: Settings,
  config: Config,
  more: Pick<EngineOptions, "log" | "provision" | "tell" | "notify">,
): Engine {
  const { maxMessage: maxMessageBytes, surface, pin } = settings;
  const home = homeFolder(process.env);
  const search = chooseSearch(settings, config, { home, clock, log: more.log });
  return createEngine({
    ...more,
    config,
    home,
    maxMessageBytes,
    search,
    surface,
    pin,
    code: codeOf(settings),
  });
}

/** Where code runs. */
function codeOf(settings: Settings): ExecutorChoice | false {
  const { noCode, runtimeProfile: profile, runtimeBackend: backend, wasmEnabled } = settings;
  return noCode ? false : { profile, backend, wasmEnabled };
}
