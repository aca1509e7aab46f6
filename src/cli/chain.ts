/** `metamcp chain`: runs the steps in a file with run_chain. */
import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { UsageError } from "../config/command-line.ts";
import { asRaw, EMPTY_OBJECT, fromRaw, type Raw, toRaw } from "../kernel/raw.ts";
import { elements, isObject, joinObject, member, members, withMember } from "../rpc/slice.ts";
import { callMetatools, type Result } from "./call-surface.ts";
import type { Command } from "./command.ts";
import { exactJson } from "./exact-json.ts";
import { printError, printJson, printResult } from "./print.ts";
import { spin } from "./spinner.ts";
import { table } from "./table.ts";
import { withEngine } from "./with-engine.ts";

interface ChainResult {
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
      const raw = await callMetatools(scope, "run_chain", input, (message) => {
        spinner.text = message;
      });
      spinner.stop();
      const result = fromRaw(raw) as Result;
      const chain = result.structuredContent as ChainResult;
      const written = member(raw, "structuredContent") ?? EMPTY_OBJECT;
      const people = json ? "" : forPeople(chain, written);
      if (json) printJson(written.toString());
      else if (people !== "") printResult(people);
      if (chain.error && !json) printError(`${chain.error.code}: ${chain.error.message}`);
      // With "continue" a chain with failed steps is no error for a model, but it is one for a script.
      return result.isError || chain.results?.some(({ error }) => error) ? 1 : 0;
    }).finally(() => spinner.stop());
  },
};

/** Reads a list of steps, or an input object of run_chain. Numbers stay exactly as written. */
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
  // A line break would end a message. JSON has line breaks only between tokens.
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

/** Values are shown as they are written: parsing loses digits of large integers. */
function forPeople({ results = [], final }: ChainResult, chain: Raw): string {
  const [written, steps] = members(chain, ["final", "results"]);
  const values = (steps ? elements(steps) : []).map((step) => member(step, "structured"));
  const rows = results.map(({ tool_id, durationMs, structured, error }, at) => [
    String(at),
    tool_id,
    durationMs.toFixed(durationMs < 10 ? 1 : 0),
    error
      ? `✗ ${error.code}: ${error.message}`
      : structured === undefined
        ? "✓ fits"
        : `✓ ${shorten(structured, values[at])}`,
  ]);
  const lines = rows.length > 0 ? [table(["STEP", "TOOL", "MS", "RESULT"], rows)] : [];
  return [...lines, ...(written ? [`\n${typeof final === "string" ? final : exactJson(written)}`] : [])].join(
    "\n",
  );
}

const MAX_SHOWN = 200;

function shorten(value: unknown, written: Raw | undefined): string {
  const text = typeof value === "string" ? value : String(written);
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN - 1)}…` : text;
}
