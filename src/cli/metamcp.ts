/** The program behind `start.ts`: chooses the command and loads only its module. */
import { UsageError } from "../config/command-line.ts";
import { nearest } from "../kernel/nearest.ts";
import type { Commands, ExitCode } from "./command.ts";
import { hideEnvironment } from "./hide-environment.ts";

const COMMANDS: Commands = new Map([
  ["serve", () => import("./serve.ts")],
  ["init", () => import("./init.ts")],
  ["import", () => import("./import.ts")],
  ["add", () => import("./add.ts")],
  ["remove", () => import("./remove.ts")],
  ["list", () => import("./list.ts")],
  ["tools", () => import("./tools.ts")],
  ["search", () => import("./search.ts")],
  ["describe", () => import("./describe.ts")],
  ["call", () => import("./call.ts")],
  ["chain", () => import("./chain.ts")],
  ["exec", () => import("./exec.ts")],
  ["allow", () => import("./allow.ts")],
  ["approve", () => import("./approve.ts")],
  ["trust", () => import("./trust.ts")],
  ["auth", () => import("./auth.ts")],
  ["doctor", () => import("./doctor.ts")],
  ["gateway", () => import("./gateway.ts")],
]);

async function main(argv: readonly string[]): Promise<ExitCode> {
  const [first, ...rest] = argv;
  if (first === "help") return await main(rest.length > 0 ? [...rest, "--help"] : ["--help"]);
  if (first === undefined || first.startsWith("-")) {
    const { run } = await import("./run.ts");
    return await run(argv, COMMANDS);
  }
  const load = COMMANDS.get(first);
  if (!load) {
    const [guess] = nearest(first, COMMANDS.keys(), 1);
    const hint = guess ? `Did you mean "${guess}"?` : `Commands: ${[...COMMANDS.keys()].join(", ")}.`;
    throw new UsageError(`"${first}" is not a command. ${hint}`);
  }
  if (first === "gateway") return await (await import("./gateway.ts")).runGateway(rest);
  const { runCommand } = await import("./command.ts");
  return await runCommand((await load()).command, rest);
}

async function start(): Promise<void> {
  // A reader like `head` may close stdout early. The stdio transport has its own error listener.
  process.stdout.on("error", () => {
    if (process.stdout.listenerCount("error") === 1) process.exit();
  });
  hideEnvironment();
  try {
    process.exitCode = await main(process.argv.slice(2));
  } catch (error) {
    process.exitCode = await explain(error as Error);
  }
  // Exits even if timers or handles are still open.
  process.stdout.write("", () => process.exit());
}

async function explain(error: Error): Promise<ExitCode> {
  const { message, stack } = error;
  const isUsageError = error instanceof UsageError;
  const [{ wrap }, { printError }] = await Promise.all([import("./wrap.ts"), import("./print.ts")]);
  const shown = isUsageError || process.env["METAMCP_LOG_LEVEL"] !== "debug" ? message : String(stack);
  const { homeHint } = await import("./home-hint.ts");
  // The message about a server named "metamcp" has this prefix already.
  const prefixed = shown.startsWith("metamcp: ") ? shown : `metamcp: ${shown}`;
  printError(wrap(`${prefixed}${homeHint(error)}`, process.stderr.columns));
  return isUsageError ? 2 : 1;
}

void start();
