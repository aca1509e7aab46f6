/** Runs a command with an engine for the selected config, and closes the engine afterwards. */

import { folderConsent } from "../config/allowed.ts";
import type { Table } from "../config/command-line.ts";
import { loadConfig } from "../config/load.ts";
import { configCandidates, pickConfig } from "../config/locate.ts";
import type { ReadSettings } from "../config/settings.ts";
import type { Config } from "../config/spec.ts";
import type { Engine } from "../engine/engine.ts";
import { homeFolder } from "../home/home.ts";
import type { ExitCode } from "./command.ts";
import { engineFor } from "./engine.ts";
import { configLayers } from "./layers.ts";
import { createLog } from "./log.ts";
import { provisionOf } from "./registry.ts";

export async function readConfig({ settings, overrides }: ReadSettings<Table>): Promise<Config> {
  const { env } = process;
  const path = pickConfig(configCandidates(settings.config, process.cwd(), env));
  const consent = folderConsent(settings.config, process.cwd(), homeFolder(env));
  return await loadConfig(path, { env, overrides, consent, layers: configLayers(settings).check });
}

export interface WithEngineOptions {
  /** False if the command starts no servers. Then a config in this folder needs no permission. */
  readonly starts?: boolean;
}

/** Runs `use` with an engine. The engine logs only errors, unless a log level was set. */
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
  const engine = engineFor(settings, config, { log, userReadsLog: false, provision: provisionOf(given) });
  const stop = (): void => void engine.close().finally(() => process.exit(130));
  // `on`, not `once`: a second signal would otherwise kill the process before its children have ended.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, stop);
  process.once("exit", () => engine.killNow());
  try {
    return await use(engine, config);
  } finally {
    await engine.close();
  }
}

/** Loads the dialog only if it is needed. */
async function askToAllow(config: Config, given: ReadSettings<Table>): Promise<Config> {
  const { allowedAtTerminal } = await import("./allow.ts");
  return await allowedAtTerminal(config, () => readConfig(given));
}
