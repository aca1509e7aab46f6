/** Arguments that a tool is known to take: from the config, from calls that worked, and from its own schema. Makes none up. */

import { resultTypeOf } from "../../catalog/declaration.ts";
import { sameJson } from "../../catalog/same.ts";
import { summarize } from "../../catalog/summary.ts";
import type { Tool } from "../../catalog/tool.ts";
import { isRecord } from "../../kernel/is-record.ts";
import { fromRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { elements, entries, isObject, joinObject, member, members } from "../../rpc/slice.ts";
import type { Scope } from "../scope.ts";

interface Words {
  readonly title?: string;
  readonly description?: string;
  readonly resultHint?: string;
}

interface Draft {
  /** As they were written, digits and all. */
  readonly args: Raw;
  readonly words?: Words;
}

const MOST_EXAMPLES = 5;
const LONGEST_HINT = 200;
const DESCRIBED = new Set(["args", "title", "description", "resultHint"]);

/** Each as the client gets it. */
export async function examplesOf(
  scope: Scope,
  tool: Tool,
  most: number | undefined,
): Promise<readonly Raw[]> {
  const { server, name } = tool;
  const configured = scope.specs().get(server)?.examples ?? {};
  const written = Object.hasOwn(configured, name) ? (configured[name] ?? []) : [];
  const used = (await scope.usageOf(server, name)).map((args) => ({ args }));
  const sources: readonly (readonly [string, string, readonly Draft[]])[] = [
    ["config", "From the config", written.flatMap(drafted)],
    ["usage", "Worked before", used],
    ["schema", "From the tool's schema", inSchema(tool).map((args) => ({ args }))],
  ];
  const resultHint = summarize(resultTypeOf(tool) ?? "text or other content", LONGEST_HINT);
  const seen: Raw[] = [];
  const all = sources.flatMap(([source, description, drafts]) =>
    drafts.flatMap(({ args, words }, at): Raw[] => {
      if (seen.some((other) => sameJson(other, args))) return [];
      seen.push(args);
      const told = { title: titleOf(name, args), description, resultHint, ...words };
      return [
        joinObject([
          ["id", toRaw(`${source}-${at + 1}`)],
          ["title", toRaw(told.title)],
          ["description", toRaw(told.description)],
          ["args", args],
          ["resultHint", toRaw(told.resultHint)],
        ]),
      ];
    }),
  );
  return all.slice(0, Math.min(most ?? MOST_EXAMPLES, MOST_EXAMPLES));
}

/** In the config either the arguments themselves, or these with words around them. */
function drafted(entry: unknown): readonly Draft[] {
  if (!isRecord(entry)) return [];
  const { args, title, description, resultHint } = entry;
  if (!isRecord(args) || !Object.keys(entry).every((key) => DESCRIBED.has(key)))
    return [{ args: toRaw(entry) }];
  const words = {
    ...(typeof title === "string" && { title }),
    ...(typeof description === "string" && { description }),
    ...(typeof resultHint === "string" && { resultHint }),
  };
  return [{ args: toRaw(args), words }];
}

/** Whole examples, or one put together from those of its properties where no required one is left out. */
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
