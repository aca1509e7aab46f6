/**
 * `metamcp` without a command: serves clients until they disconnect or a signal arrives, and applies config
 * changes.
 */
import type { EventEmitter } from "node:events";
import { allow, folderConsent } from "../config/allowed.ts";
import { UsageError } from "../config/command-line.ts";
import { flagsFor } from "../config/flags.ts";
import { environmentHelp, flagHelp } from "../config/help.ts";
import { loadConfig } from "../config/load.ts";
import { configCandidates, pickConfig } from "../config/locate.ts";
import { readSettings } from "../config/settings.ts";
import type { Config } from "../config/spec.ts";
import { watchConfig } from "../config/watch.ts";
import type { Engine } from "../engine/engine.ts";
import { systemClock as clock } from "../engine/system-clock.ts";
import { homeFolder } from "../home/home.ts";
import type { Log } from "../kernel/log.ts";
import { PERSONAL } from "../kernel/principal.ts";
import { VERSION } from "../kernel/version.ts";
import { loadSurface } from "../surface/load-surface.ts";
import { chooseTransport } from "./choose-transport.ts";
import type { Commands, ExitCode } from "./command.ts";
import { engineFor } from "./engine.ts";
import { configLayers } from "./layers.ts";
import { createLog } from "./log.ts";
import { takeSecrets } from "./own-secrets.ts";
import { print, printError } from "./print.ts";
import { clearOrphans, stopSignal } from "./process.ts";
import { provisionOf } from "./registry.ts";
import { wrap } from "./wrap.ts";

/** Processes that a killed MetaMCP left behind may live so much longer. */
const CLEAR_AFTER_MS = 1_000;

export async function run(argv: readonly string[], commands: Commands): Promise<ExitCode> {
  const { env } = process;
  const { settings, given, overrides, positionals, warnings } = readSettings(
    argv,
    takeSecrets(env, flagsFor("run")),
  );
  if (settings.help) return show(await help(commands));
  if (settings.version) return show(VERSION);
  const [word] = positionals;
  if (word !== undefined) throw new UsageError(misplaced(word, commands));

  const log = createLog({ level: settings.logLevel, file: settings.logFile });
  for (const warning of warnings) log.warn(warning);
  const paths = configCandidates(settings.config, process.cwd(), env);
  const home = homeFolder(env);
  const consent = folderConsent(settings.config, process.cwd(), home);
  const { check: layers } = configLayers(settings);
  const read = async (): Promise<Config> =>
    await loadConfig(pickConfig(paths), { env, overrides, consent, layers });
  const config = await askToAllow(await read(), read);
  if (!config.exists && settings.transport === "stdio" && process.stdin.isTTY && process.stderr.isTTY) {
    const next = await runFirstRun(commands, paths, settings.config);
    if (next !== "serve") return next;
  }
  report(config, log);
  const provision = provisionOf({ settings, given, overrides });
  const [transport, surface] = await Promise.all([
    chooseTransport(settings, log),
    loadSurface(settings.surface),
  ]);

  const engine = engineFor(settings, config, {
    log,
    provision,
    notify: !settings.noNotify,
    allow:
      consent &&
      (async (withheld) => {
        await allow(withheld, home);
        return await read();
      }),
  });
  const watch = watchConfig(
    paths,
    (next) => applyConfig(engine, next, log),
    (message) => reportFault(engine, message, log),
    {
      env,
      overrides,
      consent,
      layers,
      clock,
      initial: config,
    },
  );
  // It looks at every process, which takes longer than the rest of the start.
  clock.after(CLEAR_AFTER_MS, () => void clearOrphans(log, home));
  process.once("exit", () => engine.killNow());
  const reload = (): void => {
    log.reopen();
    log.info("SIGHUP: reading config and certificate again");
    watch.check();
    transport.reload?.();
  };
  // The client that started us over stdio may have gone with its terminal.
  const stopped = stopSignal(settings.transport === "stdio" ? undefined : reload);
  if (settings.transport === "stdio" && process.stdin.isTTY)
    printError(wrap(WELCOME, process.stderr.columns));
  (process as EventEmitter).emit("metamcp:serving");
  const endpoint = engine.open({ id: PERSONAL, surface });
  await Promise.race([transport.serve(endpoint), stopped]);
  watch.close();
  void transport.stop();
  await engine.close();
  await transport.close();
  // Output that the client has not read by now is dropped.
  if (process.stdout.writableLength > 0) process.exit(0);
  return 0;
}

/** Loads the dialog only if it is needed. */
async function askToAllow(config: Config, read: () => Promise<Config>): Promise<Config> {
  return config.withheld ? await (await import("./allow.ts")).allowedAtTerminal(config, read) : config;
}

/** The dialog at a terminal if there is no config yet. */
async function runFirstRun(
  commands: Commands,
  paths: readonly string[],
  configFlag: string | undefined,
): Promise<ExitCode | "serve"> {
  const [{ firstRun }, { openTerminal }] = await Promise.all([
    import("./first-run.ts"),
    import("./terminal.ts"),
  ]);
  const terminal = openTerminal();
  try {
    return await firstRun({
      terminal,
      commands,
      paths,
      flags: configFlag === undefined ? [] : ["--config", configFlag],
    });
  } finally {
    terminal.close();
  }
}

const WELCOME = `MetaMCP ${VERSION} is waiting for an MCP client on stdin and stdout. Usually a client starts it. You can also run these commands in another terminal:
  metamcp list                 show your servers
  metamcp search "a task"      find tools
  metamcp call SERVER TOOL     run one
  metamcp doctor               check every server and say how to fix what fails
Press Ctrl-C to stop.`;

function show(text: string): ExitCode {
  print(wrap(text, process.stdout.columns));
  return 0;
}

function misplaced(word: string, commands: Commands): string {
  return commands.has(word)
    ? `Write the command first: metamcp ${word} …`
    : `"${word}" is not a command or flag. "metamcp --help" shows them.`;
}

async function help(commands: Commands): Promise<string> {
  const all = await Promise.all([...commands.values()].map(async (load) => (await load()).command));
  const width = Math.max(...all.map(({ name }) => name.length)) + 2;
  const list = all.map(({ name, summary }) => `  metamcp ${name.padEnd(width)}${summary}`).join("\n");
  return `MetaMCP ${VERSION}: one MCP server in front of all the others.

Usage:
  metamcp [flags]           run MetaMCP on stdio, or over HTTP with --transport
  metamcp COMMAND --help    show help for a command

Commands:
${list}

Flags:
${flagHelp("run")}

Environment:
${environmentHelp()}`;
}

function report(config: Config, log: Log): void {
  if (!config.exists)
    log.warn(
      `There is no config file at ${config.path}, so there are no servers. MetaMCP uses the file as soon as it exists.`,
    );
  for (const warning of config.warnings) log.warn(warning);
  for (const [server, reason] of config.broken) log.error(`${server} cannot be used: ${reason}`, { server });
}

function applyConfig(engine: Engine, config: Config, log: Log): void {
  log.info(`config applied: ${config.servers.size} servers`);
  report(config, log);
  engine.apply(config);
}

function reportFault(engine: Engine, message: string | undefined, log: Log): void {
  const fault = message && `The config file cannot be used, so the last valid one stays in use: ${message}`;
  if (fault) log.error(fault);
  else log.info("The config file is valid again");
  engine.fault(fault);
}
