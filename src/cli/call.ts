/** `metamcp call`: runs one tool, like a model does with mcp_call. */
import { writeFile } from "node:fs/promises";
import { parse } from "node:path";
import { text } from "node:stream/consumers";
import { UsageError } from "../config/command-line.ts";
import { asRaw, fromRaw, type Raw, toRaw } from "../kernel/raw.ts";
import { joinObject, members } from "../rpc/slice.ts";
import type { ScopeCatalog } from "../surface/scope.ts";
import { callMeta, type Result, textOf } from "./call-surface.ts";
import type { Command } from "./command.ts";
import { exactJson } from "./exact-json.ts";
import { person } from "./person.ts";
import { printError, printJson, printResult } from "./print.ts";
import { spin } from "./spinner.ts";
import { readToolName } from "./tool-name.ts";
import { withEngine } from "./with-engine.ts";
import { wrap } from "./wrap.ts";

export const command: Command = {
  name: "call",
  usage: "call SERVER TOOL (or SERVER:TOOL) ['{\"json\": …}' | name=value … | -]",
  summary: "Run one tool and print its result. Use - to read the arguments from stdin, as JSON.",
  flags: {
    timeout: {
      kind: "time",
      least: 1,
      env: false,
      help: "Time limit (ms), in addition to those of the server.",
    },
    out: {
      kind: "text",
      value: "file",
      env: false,
      help: "Save the image, audio or file in the result here; or its text, if it has none.",
    },
  },
  takes: [1, Number.POSITIVE_INFINITY],
  async run(given) {
    const { server, tool, rest } = readToolName(given.positionals, command.usage);
    const { timeout, out } = given.settings as unknown as { timeout?: number; out?: string };
    const written = await readArguments(rest);
    const spinner = spin(`${server} ${tool} …`);
    return await withEngine(given, async ({ scope }) => {
      const args = isPairs(written) ? joinObject(await typedPairs(scope, server, tool, written)) : written;
      const input = joinObject([
        ["server", toRaw(server)],
        ["tool", toRaw(tool)],
        ["args", args],
      ]);
      const raw = await callMeta(scope, "mcp_call", input, timeout);
      spinner.stop();
      const result = fromRaw(raw) as Result;
      if (given.settings.json) printJson(raw.toString());
      else if (result.isError) printError(wrap(textOf(result), process.stderr.columns));
      else if (out === undefined) printResult(forPeople(raw, result));
      if (out !== undefined && !result.isError)
        await save(result, { file: out, whole: forPeople(raw, result) }, given.settings.json);
      return result.isError ? 1 : 0;
    }).finally(() => spinner.stop());
  },
};

async function save(result: Result, target: SaveTarget, json: boolean): Promise<void> {
  const { files, text } = await saveResult(result, target);
  if (text !== "" && !json) printResult(text);
  for (const file of files) printError(`Saved ${file}`);
}

function forPeople(raw: Raw, result: Result): string {
  const [structured] = result.content?.length ? [] : members(raw, ["structuredContent"]);
  return structured ? exactJson(structured) : textOf(result);
}

type Pair = readonly [name: string, value: string];

/** Reads one JSON object, which is passed on unchanged, or name=value pairs. */
async function readArguments(words: readonly string[]): Promise<Raw | readonly Pair[]> {
  if (words.length === 1 && words[0] === "-") {
    const written = await text(process.stdin);
    if (written.trimStart().startsWith("{")) return await readArguments([written]);
    throw new UsageError("The arguments on stdin are not a JSON object.");
  }
  const [first = ""] = words;
  if (words.length === 1 && first.trimStart().startsWith("{")) {
    const whole = asJson(first);
    if (whole) return whole;
    throw new UsageError("The arguments start with { but are not valid JSON. Check quotes and commas.");
  }
  return words.map((word) => {
    const equals = word.indexOf("=");
    if (equals > 0) return [word.slice(0, equals), word.slice(equals + 1)];
    throw new UsageError(
      `"${word}" is not an argument. Write arguments as name=value, or as one JSON object.`,
    );
  });
}

function isPairs(written: Raw | readonly Pair[]): written is readonly Pair[] {
  return Array.isArray(written);
}

/** Values that are valid JSON become JSON, unless the schema asks for a string. All others become strings. */
async function typedPairs(
  scope: ScopeCatalog,
  server: string,
  tool: string,
  pairs: readonly Pair[],
): Promise<readonly (readonly [string, Raw])[]> {
  if (pairs.length > 0 && scope.has(server)) await scope.loader.loadMissing([server], person);
  const schema = scope.view(person).snapshot.tool(server, tool)?.inputSchema;
  const { properties } = (schema ? fromRaw(schema) : {}) as {
    properties?: Record<string, { type?: unknown }>;
  };
  return pairs.map(([name, value]) => {
    const type = properties && Object.hasOwn(properties, name) ? properties[name]?.type : undefined;
    return [name, (type === "string" ? undefined : asJson(value)) ?? toRaw(value)];
  });
}

/**
 * Returns the text unchanged if it is JSON, but without line breaks, because they would end a message. JSON
 * has them only between tokens.
 */
function asJson(text: string): Raw | undefined {
  try {
    JSON.parse(text);
    return asRaw(Buffer.from(text.replaceAll(/[\r\n]/g, " ")));
  } catch {
    return undefined;
  }
}

/** `--out FILE` of `metamcp call`: saves the images, audio and files of a result. */
interface Saved {
  readonly files: readonly string[];
  /** What is not in the files; empty if there is nothing. */
  readonly text: string;
}

interface SaveTarget {
  readonly file: string;
  /** The result as text. */
  readonly whole: string;
}

/** The first goes to `file`, the next to `NAME-2.EXT` beside it. A result with text only is saved as text. */
async function saveResult({ content = [] }: Result, { file, whole }: SaveTarget): Promise<Saved> {
  const binary = content.flatMap(({ data, resource }) => data ?? resource?.blob ?? []);
  if (binary.length === 0) {
    await writeFile(file, `${whole}\n`);
    return { files: [file], text: "" };
  }
  const { dir, name, ext } = parse(file);
  const files = binary.map((_, at) => (at === 0 ? file : `${dir && `${dir}/`}${name}-${at + 1}${ext}`));
  for (const [at, base64] of binary.entries())
    await writeFile(files[at] as string, Buffer.from(base64, "base64"));
  const rest = content.filter(({ data, resource }) => (data ?? resource?.blob) === undefined);
  return { files, text: rest.length > 0 ? textOf({ content: rest }) : "" };
}
