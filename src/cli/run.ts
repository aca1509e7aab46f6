/** `metamcp` itself: serves clients until they leave or a signal comes, and follows the config meanwhile. */
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { UsageError } from "../config/command-line.ts";
import { flagHelp } from "../config/help.ts";
import { loadConfig } from "../config/load.ts";
import { configCandidates, pickConfig } from "../config/locate.ts";
import { readSettings } from "../config/settings.ts";
import type { Config } from "../config/spec.ts";
import { watchConfig } from "../config/watch.ts";
import { homeFolder } from "../home/home.ts";
import type { Log } from "../kernel/log.ts";
import { VERSION } from "../kernel/version.ts";
import type { Engine } from "../main.ts";
import { systemClock as clock } from "../system-clock.ts";
import type { Command, ExitCode } from "./command.ts";
import { engineFor } from "./engine.ts";
import { chooseTransport } from "./listen.ts";
import { createLog } from "./log.ts";
import { provisionOf } from "./registry.ts";
import { wrap } from "./wrap.ts";

type Commands = ReadonlyMap<string, () => Promise<{ readonly command: Command }>>;

export async function run(argv: readonly string[], commands: Commands): Promise<ExitCode> {
  const { env } = process;
  const { settings, given, overrides, positionals, warnings } = readSettings(argv, env);
  if (settings.help) return print(await help(commands));
  if (settings.version) return print(VERSION);
  const [word] = positionals;
  if (word !== undefined) throw new UsageError(misplaced(word, commands));
  const provision = provisionOf({ settings, given, overrides });

  // What passes through lies in buffers that V8 counts as if they were heap: with its own limit, every 20 MB of results
  // would have the whole heap marked, which costs more than carrying them.
  setFlagsFromString("--heap-growing-percent=400");
  const log = createLog({ level: settings.logLevel, file: settings.logFile });
  for (const warning of warnings) log.warn(warning);
  const paths = configCandidates(settings.config, process.cwd(), env);
  const config = await loadConfig(await pickConfig(paths), { env, overrides });
  if (!config.exists && settings.transport === "stdio" && process.stdin.isTTY && process.stderr.isTTY) {
    const next = await greet(commands, paths, settings.config);
    if (next !== "serve") return next;
  }
  report(config, log);
  const transport = await chooseTransport(settings);

  const engine = engineFor(settings, config, { log, provision, notify: !settings.noNotify });
  const watch = watchConfig(
    paths,
    (next) => applied(engine, next, log),
    (message) => faulty(engine, message, log),
    {
      env,
      overrides,
      clock,
      initial: config,
    },
  );
  void clearOrphans(log, homeFolder(env));
  process.once("exit", () => engine.killNow());
  const told = toldToStop();
  if (settings.transport === "stdio" && process.stdin.isTTY) process.stderr.write(WELCOME);
  await Promise.race([engine.serve(transport), told]);
  watch.close();
  void transport.stop();
  await engine.close();
  await transport.close();
  // What its client has not read by now it will not read.
  if (process.stdout.writableLength > 0) process.exit(0);
  return 0;
}

/** A person, and nothing set up yet. */
async function greet(
  commands: Commands,
  paths: readonly string[],
  asked: string | undefined,
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
      flags: asked === undefined ? [] : ["--config", asked],
    });
  } finally {
    terminal.close();
  }
}

const WELCOME = `MetaMCP ${VERSION} speaks MCP on stdin and stdout: put it into a client's config, or try it here:
  metamcp list                 the servers it stands in front of
  metamcp search "a task"      which tools fit
  metamcp call SERVER TOOL     run one
  metamcp doctor               what is wrong, and how to mend it
Ctrl-C ends it.
`;

function print(text: string): ExitCode {
  process.stdout.write(`${wrap(text, process.stdout.columns)}\n`);
  return 0;
}

function misplaced(word: string, commands: Commands): string {
  return commands.has(word)
    ? `The command comes first: metamcp ${word} …`
    : `"${word}" is not understood here. "metamcp --help" shows what is.`;
}

async function help(commands: Commands): Promise<string> {
  const all = await Promise.all([...commands.values()].map(async (load) => (await load()).command));
  const width = Math.max(...all.map(({ name }) => name.length)) + 2;
  const list = all.map(({ name, summary }) => `  metamcp ${name.padEnd(width)}${summary}`).join("\n");
  return `MetaMCP ${VERSION}: one MCP server in front of all the others.

Usage: metamcp [flags]            serves
       metamcp COMMAND --help     tells more of one of these:
${list}

${flagHelp("run")}`;
}

function toldToStop(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => resolve());
  });
}

function report(config: Config, log: Log): void {
  if (!config.exists)
    log.warn(`There is no config file at ${config.path}: no servers. It is picked up when it appears.`);
  for (const warning of config.warnings) log.warn(warning);
  for (const [server, reason] of config.broken) log.error(`${server} cannot be used: ${reason}`, { server });
}

function applied(engine: Engine, config: Config, log: Log): void {
  log.info(`config applied: ${config.servers.size} servers`);
  report(config, log);
  engine.apply(config);
}

function faulty(engine: Engine, message: string | undefined, log: Log): void {
  if (message) log.error(`The config cannot be used, the last good one stays: ${message}`);
  else log.info("The config is well again");
  engine.fault(message && `The config cannot be used, the last good one stays: ${message}`);
}

async function clearOrphans(log: Log, home: string): Promise<void> {
  const { endOrphans } = await import("../child/stdio/orphans.ts");
  await endOrphans({ log, clock, runFolder: join(home, "run") });
}
