/**
 * Example arguments of a tool: from the config, from successful calls, and from its schema. Does not invent
 * any.
 */

import { resultTypeOf } from "../../catalog/declaration.ts";
import { sameJson } from "../../catalog/same.ts";
import { summarize } from "../../catalog/summary.ts";
import type { Tool } from "../../catalog/tool.ts";
import { isRecord } from "../../kernel/is-record.ts";
import { fromRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { elements, entries, isObject, joinObject, member, members } from "../../rpc/slice.ts";
import type { ScopeCatalog } from "../scope.ts";

interface ExampleTexts {
  readonly title?: string;
  readonly description?: string;
  readonly resultHint?: string;
}

interface Draft {
  /** Kept as written, so that large numbers lose no digits. */
  readonly args: Raw;
  readonly texts?: ExampleTexts;
}

const MAX_EXAMPLES = 5;
const LONGEST_HINT = 200;
const EXAMPLE_KEYS = new Set(["args", "title", "description", "resultHint"]);

/** Returns the examples as JSON, without duplicates. */
export async function examplesOf(
  scope: ScopeCatalog,
  tool: Tool,
  most: number | undefined,
): Promise<readonly Raw[]> {
  const { server, name } = tool;
  const configured = scope.specs().get(server)?.examples ?? {};
  const written = Object.hasOwn(configured, name) ? (configured[name] ?? []) : [];
  const used = (await scope.usageOf(server, name)).map((args) => ({ args }));
  const sources: readonly (readonly [string, string, readonly Draft[]])[] = [
    ["config", "From the config", written.flatMap(draftsOf)],
    ["usage", "Worked before", used],
    ["schema", "From the tool's schema", inSchema(tool).map((args) => ({ args }))],
  ];
  const resultHint = summarize(resultTypeOf(tool) ?? "text or other content", LONGEST_HINT);
  const seen: Raw[] = [];
  const all = sources.flatMap(([source, description, drafts]) =>
    drafts.flatMap(({ args, texts }, at): Raw[] => {
      if (seen.some((other) => sameJson(other, args))) return [];
      seen.push(args);
      const shown = { title: titleOf(name, args), description, resultHint, ...texts };
      return [
        joinObject([
          ["id", toRaw(`${source}-${at + 1}`)],
          ["title", toRaw(shown.title)],
          ["description", toRaw(shown.description)],
          ["args", args],
          ["resultHint", toRaw(shown.resultHint)],
        ]),
      ];
    }),
  );
  return all.slice(0, Math.min(most ?? MAX_EXAMPLES, MAX_EXAMPLES));
}

/** An entry of the config is either the arguments, or an object with `args` and texts. */
function draftsOf(entry: unknown): readonly Draft[] {
  if (!isRecord(entry)) return [];
  const { args, title, description, resultHint } = entry;
  if (!isRecord(args) || !Object.keys(entry).every((key) => EXAMPLE_KEYS.has(key)))
    return [{ args: toRaw(entry) }];
  const texts = {
    ...(typeof title === "string" && { title }),
    ...(typeof description === "string" && { description }),
    ...(typeof resultHint === "string" && { resultHint }),
  };
  return [{ args: toRaw(args), texts }];
}

/**
 * Returns the schema's own examples, else one built from the examples of its properties if those cover all
 * required ones.
 */
function inSchema({ inputSchema }: Tool): readonly Raw[] {
  const [examples, properties, required] = members(inputSchema, ["examples", "properties", "required"]);
  const whole = examples ? elements(examples).filter(isObject) : [];
  if (whole.length > 0) return whole;
  const args = new Map<string, Raw>();
  for (const [key, property] of properties ? entries(properties) : []) {
    const of = member(property, "examples");
    const [first] = of ? elements(of) : [];
    if (first) args.set(key, first);
  }
  const names = required && fromRaw(required);
  const complete = !Array.isArray(names) || names.every((name: string) => args.has(name));
  return args.size > 0 && complete ? [joinObject([...args])] : [];
}

function titleOf(name: string, args: Raw): string {
  const keys = entries(args).map(([key]) => key);
  return summarize(keys.length > 0 ? `${name} with ${keys.join(", ")}` : `${name} without arguments`, 80);
}
