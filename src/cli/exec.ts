/** `metamcp exec`: runs a file of code, like a model does with mcp_execute, and shows its calls. */
import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { UsageError } from "../config/command-line.ts";
import { EMPTY_OBJECT, fromRaw, type Raw, toRaw } from "../kernel/raw.ts";
import { joinObject, member } from "../rpc/slice.ts";
import { callMeta, type Result } from "./call-surface.ts";
import type { Command } from "./command.ts";
import { exactJson } from "./exact-json.ts";
import { printError, printJson, printResult } from "./print.ts";
import { spin } from "./spinner.ts";
import { table } from "./table.ts";
import { withEngine } from "./with-engine.ts";

interface Structured {
  readonly value?: unknown;
  readonly error?: { readonly code: string; readonly message: string };
  readonly logs?: readonly { readonly level: string; readonly text: string }[];
  readonly calls?: readonly { server: string; tool: string; ms: number; error?: string }[];
  readonly durationMs?: number;
  readonly unsafe?: boolean;
}

export const command: Command = {
  name: "exec",
  usage: "exec FILE|-",
  summary: "Run a JavaScript or TypeScript file that calls tools. Use - for stdin.",
  flags: { timeout: { kind: "time", least: 1, default: 30_000, env: false, help: "Time limit (ms)." } },
  takes: [1, 1],
  async run(given) {
    if (given.settings.noCode)
      throw new UsageError("Code execution is turned off by --no-code (METAMCP_NO_CODE).");
    const [file = ""] = given.positionals;
    const code = await read(file);
    const { timeout } = given.settings as unknown as { timeout: number };
    const spinner = spin(`${file} …`);
    return await withEngine(given, async ({ scope }) => {
      const input = joinObject([
        ["code", toRaw(code)],
        ["timeoutMs", toRaw(timeout)],
      ]);
      const raw = await callMeta(scope, "mcp_execute", input);
      spinner.stop();
      printOutcome(raw, given.settings.json);
      return (fromRaw(raw) as Result).isError ? 1 : 0;
    }).finally(() => spinner.stop());
  },
};

async function read(file: string): Promise<string> {
  try {
    return file === "-" ? await text(process.stdin) : await readFile(file, "utf8");
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${(error as Error).message}`);
  }
}

/** Prints only the value to stdout, so that it can be piped. All else goes to stderr. */
function printOutcome(raw: Raw, json: boolean): void {
  // As written: parsing loses digits of large integers.
  const outcome = member(raw, "structuredContent") ?? EMPTY_OBJECT;
  if (json) {
    printJson(outcome.toString());
    return;
  }
  const { value, error, logs = [], calls = [], durationMs = 0, unsafe } = fromRaw(outcome) as Structured;
  for (const { level, text } of logs)
    printError(`${level === "error" || level === "warn" ? `[${level}] ` : ""}${text}`);
  if (unsafe) printError("UNSAFE: this code ran as a plain process, with all your permissions.");
  const written = member(outcome, "value");
  if (written) printResult(typeof value === "string" ? value : exactJson(written));
  if (error) printError(`${error.code}: ${error.message}`);
  if (calls.length > 0) {
    const rows = calls.map(({ server, tool, ms, error: failed }) => [
      server,
      tool,
      `${ms} ms`,
      failed ?? "ok",
    ]);
    printError(`\n${table(["SERVER", "TOOL", "TOOK", "RESULT"], rows)}`);
  }
  const count = `${calls.length} ${calls.length === 1 ? "call" : "calls"}`;
  printError(`${count}, ${Math.round(durationMs)} ms`);
}
