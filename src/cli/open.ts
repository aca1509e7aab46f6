/** An engine for one command: opened on the config that is meant, closed when the command is done. */

import { folderConsent } from "../config/allowed.ts";
import type { Table } from "../config/command-line.ts";
import { loadConfig } from "../config/load.ts";
import { configCandidates, pickConfig } from "../config/locate.ts";
import type { ReadSettings } from "../config/settings.ts";
import type { Config } from "../config/spec.ts";
import type { Engine } from "../engine.ts";
import { homeFolder } from "../home/home.ts";
import type { ExitCode } from "./command.ts";
import { engineFor } from "./engine.ts";
import { configLayers } from "./layers.ts";
import { createLog } from "./log.ts";
import { provisionOf } from "./registry.ts";

export async function readConfig({ settings, overrides }: ReadSettings<Table>): Promise<Config> {
  const { env } = process;
  const path = await pickConfig(configCandidates(settings.config, process.cwd(), env));
  const consent = folderConsent(settings.config, process.cwd(), homeFolder(env));
  return await loadConfig(path, { env, overrides, consent, layers: configLayers(settings).check });
}

export interface WithEngineOptions {
  /** False: nothing is started, so that there is nothing to ask for. */
  readonly starts?: boolean;
}

/** Runs `use` with an engine whose log stays out of the way unless it was asked for. */
export async function withEngine(
  given: ReadSettings<Table>,
  use: (engine: Engine, config: Config) => Promise<ExitCode>,
  { starts = true }: WithEngineOptions = {},
): Promise<ExitCode> {
  const { settings, given: named } = given;
  const read = await readConfig(given);
  const config = read.withheld && starts ? await askToAllow(read, given) : read;
  const level = named.has("logLevel") ? settings.logLevel : "error";
  const log = createLog({ level, file: settings.logFile });
  const engine = engineFor(settings, config, { log, tell: false, provision: provisionOf(given) });
  const stop = (): void => void engine.close().finally(() => process.exit(130));
  // Listened to for good: a second one would end us in the middle of ending the children.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, stop);
  process.once("exit", () => engine.killNow());
  try {
    return await use(engine, config);
  } finally {
    await engine.close();
  }
}

/** Loaded only where there is something to ask. */
async function askToAllow(config: Config, given: ReadSettings<Table>): Promise<Config> {
  const { allowedAtTerminal } = await import("./allow.ts");
  return await allowedAtTerminal(config, () => readConfig(given));
}
