/** `metamcp chain`: runs the steps of a file as run_chain does. */
import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { UsageError } from "../config/command-line.ts";
import { asRaw, EMPTY_OBJECT, fromRaw, type Raw, toRaw } from "../kernel/raw.ts";
import { isObject, joinObject, member, withMember } from "../rpc/slice.ts";
import { askMetatool, type Result } from "./ask.ts";
import type { Command } from "./command.ts";
import { exact } from "./exact.ts";
import { withEngine } from "./open.ts";
import { spin } from "./spinner.ts";
import { table } from "./table.ts";

interface Told {
  readonly results?: readonly {
    readonly tool_id: string;
    readonly structured?: unknown;
    readonly error?: Failure;
    readonly durationMs: number;
  }[];
  readonly final?: unknown;
  readonly error?: Failure;
}

interface Failure {
  readonly code: string;
  readonly message: string;
}

interface Flags {
  readonly parallel: boolean;
  readonly dryRun: boolean;
  readonly onError: string | undefined;
}

export const command: Command = {
  name: "chain",
  usage: "chain FILE|-",
  summary: "Run the steps in a JSON file; a step can use earlier results. Use - for stdin.",
  flags: {
    parallel: { kind: "switch", env: false, help: "Run independent steps at the same time." },
    dryRun: { kind: "switch", env: false, help: "Check all steps against the schemas, but run none." },
    onError: {
      kind: "choice",
      choices: ["stop", "continue"],
      env: false,
      help: "What to do when a step fails.",
    },
  },
  takes: [1, 1],
  async run(given) {
    const [file = ""] = given.positionals;
    const input = withFlags(await readChain(file), given.settings as unknown as Flags);
    const { json } = given.settings;
    const spinner = spin("starting …");
    return await withEngine(given, async ({ scope }) => {
      const raw = await askMetatool(scope, "run_chain", input, (message) => {
        spinner.text = message;
      });
      spinner.stop();
      const result = fromRaw(raw) as Result;
      const told = result.structuredContent as Told;
      const written = member(raw, "structuredContent") ?? EMPTY_OBJECT;
      const shown = json ? written.toString() : forPeople(told, member(written, "final"));
      if (shown !== "") process.stdout.write(`${shown}\n`);
      if (told.error && !json) process.stderr.write(`${told.error.code}: ${told.error.message}\n`);
      return result.isError ? 1 : 0;
    }).finally(() => spinner.stop());
  },
};

/** A list of steps, or an object as run_chain takes it; numbers stay as they are written. */
async function readChain(file: string): Promise<Raw> {
  const written = await (file === "-" ? text(process.stdin) : readFile(file, "utf8")).catch(
    (error: Error) => {
      throw new UsageError(`${file} cannot be read: ${error.message}`);
    },
  );
  try {
    JSON.parse(written);
  } catch (error) {
    throw new UsageError(`${file} is not JSON: ${(error as Error).message}`);
  }
  // A line break can only stand between two tokens there, and would end a message.
  const raw = asRaw(Buffer.from(written.replaceAll(/[\r\n]/g, " ").trim()));
  if (raw[0] === 0x5b) return joinObject([["steps", raw]]);
  if (isObject(raw)) return raw;
  throw new UsageError(`${file} must contain a list of steps, or an object with "steps".`);
}

function withFlags(input: Raw, { parallel, dryRun, onError }: Flags): Raw {
  let given = input;
  if (parallel) given = withMember(given, "parallel", toRaw(true));
  if (dryRun) given = withMember(given, "dry_run", toRaw(true));
  if (onError !== undefined) given = withMember(given, "on_error", toRaw(onError));
  return given;
}

function forPeople({ results = [], final }: Told, written: Raw | undefined): string {
  const rows = results.map(({ tool_id, durationMs, structured, error }, at) => [
    String(at),
    tool_id,
    durationMs.toFixed(durationMs < 10 ? 1 : 0),
    error
      ? `✗ ${error.code}: ${error.message}`
      : structured === undefined
        ? "✓ fits"
        : `✓ ${inLine(structured)}`,
  ]);
  const steps = rows.length > 0 ? [table(["STEP", "TOOL", "MS", "RESULT"], rows)] : [];
  return [...steps, ...(written ? [`\n${typeof final === "string" ? final : exact(written)}`] : [])].join(
    "\n",
  );
}

const LONGEST = 200;

function inLine(value: unknown): string {
  const written = typeof value === "string" ? value : JSON.stringify(value);
  return written.length > LONGEST ? `${written.slice(0, LONGEST - 1)}…` : written;
}
