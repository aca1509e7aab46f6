/** `metamcp call`: runs one tool, exactly as a model would through mcp_call. */
import { UsageError } from "../config/command-line.ts";
import { asRaw, fromRaw, type Raw, toRaw } from "../kernel/raw.ts";
import { joinObject, members } from "../rpc/slice.ts";
import type { Scope } from "../surface/scope.ts";
import { ask, type Result, textOf } from "./ask.ts";
import type { Command } from "./command.ts";
import { exact } from "./exact.ts";
import { withEngine } from "./open.ts";
import { person } from "./person.ts";
import { spin } from "./spinner.ts";
import { readToolName } from "./tool-name.ts";
import { wrap } from "./wrap.ts";

export const command: Command = {
  name: "call",
  usage: "call SERVER TOOL (or SERVER:TOOL) ['{\"json\": …}' | name=value …]",
  summary: "Run one tool and print its result.",
  takes: [1, Number.POSITIVE_INFINITY],
  async run(given) {
    const { server, tool, rest } = readToolName(given.positionals, command.usage);
    const written = readArguments(rest);
    const spinner = spin(`${server} ${tool} …`);
    return await withEngine(given, async ({ scope }) => {
      const args = isPairs(written) ? joinObject(await typed(scope, server, tool, written)) : written;
      const input = joinObject([
        ["server", toRaw(server)],
        ["tool", toRaw(tool)],
        ["args", args],
      ]);
      const raw = await ask(scope, "mcp_call", input);
      spinner.stop();
      const result = fromRaw(raw) as Result;
      if (given.settings.json) process.stdout.write(`${raw.toString()}\n`);
      else if (result.isError) process.stderr.write(`${wrap(textOf(result), process.stderr.columns)}\n`);
      else process.stdout.write(`${forPeople(raw, result)}\n`);
      return result.isError ? 1 : 0;
    }).finally(() => spinner.stop());
  },
};

function forPeople(raw: Raw, result: Result): string {
  const [structured] = result.content?.length ? [] : members(raw, ["structuredContent"]);
  return structured ? exact(structured) : textOf(result);
}

type Pair = readonly [name: string, value: string];

/** One JSON object, passed on as it is written, or name=value pairs. */
function readArguments(words: readonly string[]): Raw | readonly Pair[] {
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

/** JSON where a value can be read as such, and text where not or where the tool wants text. */
async function typed(
  scope: Scope,
  server: string,
  tool: string,
  pairs: readonly Pair[],
): Promise<readonly (readonly [string, Raw])[]> {
  if (pairs.length > 0 && scope.has(server)) await scope.loader.learn([server], person);
  const schema = scope.view(person).snapshot.tool(server, tool)?.inputSchema;
  const { properties } = (schema ? fromRaw(schema) : {}) as {
    properties?: Record<string, { type?: unknown }>;
  };
  return pairs.map(([name, value]) => {
    const wanted = properties && Object.hasOwn(properties, name) ? properties[name]?.type : undefined;
    return [name, (wanted === "string" ? undefined : asJson(value)) ?? toRaw(value)];
  });
}

/** The text as it is, if it is JSON; a line break can only stand between two tokens there, and would end a message. */
function asJson(text: string): Raw | undefined {
  try {
    JSON.parse(text);
    return asRaw(Buffer.from(text.replaceAll(/[\r\n]/g, " ")));
  } catch {
    return undefined;
  }
}
