/** An engine for one command: opened on the config that is meant, closed when the command is done. */

import type { Table } from "../config/command-line.ts";
import { loadConfig } from "../config/load.ts";
import { configCandidates, pickConfig } from "../config/locate.ts";
import type { ReadSettings } from "../config/settings.ts";
import type { Config } from "../config/spec.ts";
import type { Origin, Uplink } from "../kernel/call.ts";
import { EMPTY_OBJECT, fromRaw, type Raw, toRaw } from "../kernel/raw.ts";
import type { Engine } from "../main.ts";
import { METHOD_NOT_FOUND, RpcError } from "../rpc/rpc-error.ts";
import type { ExitCode } from "./command.ts";
import { engineFor } from "./engine.ts";
import { createLog } from "./log.ts";
import { provisionOf } from "./registry.ts";
import { hushSpinner } from "./spinner.ts";

export async function readConfig({ settings, overrides }: ReadSettings<Table>): Promise<Config> {
  const path = await pickConfig(configCandidates(settings.config, process.cwd(), process.env));
  return await loadConfig(path, { env: process.env, overrides });
}

/** Runs `use` with an engine whose log stays out of the way unless it was asked for. */
export async function withEngine(
  given: ReadSettings<Table>,
  use: (engine: Engine, config: Config) => Promise<ExitCode>,
): Promise<ExitCode> {
  const { settings, given: named } = given;
  const config = await readConfig(given);
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

/** Whoever types the command can be asked for a yes, if they sit at a terminal. Progress is dropped. */
const atTerminal = Boolean(process.stdin.isTTY && process.stderr.isTTY);

const uplink: Uplink = {
  notify: () => {},
  async request(method, params) {
    if (method === "elicitation/create" && atTerminal) return toRaw(await confirm(params));
    throw RpcError.of(METHOD_NOT_FOUND, `${method} cannot be answered on the command line`);
  },
};

/** A question with fields is more than a yes or no. */
async function confirm(params: Raw | undefined): Promise<{ action: "accept" | "decline" | "cancel" }> {
  const question = (params ? fromRaw(params) : {}) as {
    message?: string;
    requestedSchema?: { properties?: object };
  };
  if (Object.keys(question.requestedSchema?.properties ?? {}).length > 0) return { action: "cancel" };
  hushSpinner();
  const { createInterface } = await import("node:readline/promises");
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal.question(`${question.message} [y/N] `);
  terminal.close();
  return { action: /^\s*y(es)?\s*$/i.test(answer) ? "accept" : "decline" };
}

export const person: Origin = {
  session: "command-line",
  capabilities: atTerminal ? toRaw({ elicitation: {} }) : EMPTY_OBJECT,
  uplink,
};
