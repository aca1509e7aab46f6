/** `metamcp call`: runs one tool, exactly as a model would through mcp_call. */
import { UsageError } from "../config/command-line.ts";
import { fromRaw } from "../kernel/raw.ts";
import { ask, textOf } from "./ask.ts";
import type { Command } from "./command.ts";
import { withEngine } from "./open.ts";
import { spin } from "./spinner.ts";

export const command: Command = {
  name: "call",
  usage: "call SERVER TOOL ['{\"json\": …}' | name=value …]",
  summary: "Run one tool and print its result.",
  takes: [2, Number.POSITIVE_INFINITY],
  async run(given) {
    const [server, tool, ...rest] = given.positionals;
    const args = readArguments(rest);
    const spinner = spin(`${server} ${tool} …`);
    return await withEngine(given, async ({ scope }) => {
      const raw = await ask(scope, "mcp_call", { server, tool, args });
      spinner.stop();
      const result = fromRaw(raw) as { isError?: boolean };
      const out = result.isError && !given.settings.json ? process.stderr : process.stdout;
      out.write(`${given.settings.json ? raw.toString() : textOf(result)}\n`);
      return result.isError ? 1 : 0;
    }).finally(() => spinner.stop());
  },
};

/** One JSON object, or pairs whose values are JSON where they can be read as such and text where not. */
function readArguments(words: readonly string[]): unknown {
  const [first] = words;
  if (first?.trimStart().startsWith("{")) {
    try {
      if (words.length === 1) return JSON.parse(first);
    } catch (error) {
      throw new UsageError(`The arguments are not JSON: ${(error as Error).message}`);
    }
  }
  return Object.fromEntries(
    words.map((word) => {
      const at = word.indexOf("=");
      if (at < 1)
        throw new UsageError(
          `"${word}" is not understood: give arguments as name=value or as one JSON object.`,
        );
      return [word.slice(0, at), asValue(word.slice(at + 1))];
    }),
  );
}

function asValue(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
