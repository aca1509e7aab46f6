/** Arguments that a tool is known to take: from the config, from calls that worked, and from its own schema. Makes none up. */
import { resultTypeOf } from "../../catalog/declaration.ts";
import { summarize } from "../../catalog/summary.ts";
import type { Tool } from "../../catalog/tool.ts";
import { fromRaw } from "../../kernel/raw.ts";
import type { Scope } from "../scope.ts";

export interface Example {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly args: Keys;
  readonly resultHint: string;
}

type Keys = Readonly<Record<string, unknown>>;
type Draft = Partial<Omit<Example, "id" | "args">> & { readonly args: Keys };

export const MOST_EXAMPLES = 5;
const LONGEST_HINT = 200;
const DESCRIBED = new Set(["args", "title", "description", "resultHint"]);

export async function examplesOf(
  scope: Scope,
  tool: Tool,
  most: number | undefined,
): Promise<readonly Example[]> {
  const { server, name } = tool;
  const configured = scope.specs().get(server)?.examples ?? {};
  const sources: readonly (readonly [string, string, readonly Draft[]])[] = [
    [
      "config",
      "From the config",
      (Object.hasOwn(configured, name) ? (configured[name] ?? []) : []).flatMap(drafted),
    ],
    ["usage", "Worked before", (await scope.usageOf(server, name)).filter(isKeys).map((args) => ({ args }))],
    ["schema", "From the tool's schema", inSchema(tool).map((args) => ({ args }))],
  ];
  const resultHint = summarize(resultTypeOf(tool) ?? "text or other content", LONGEST_HINT);
  const seen = new Set<string>();
  const all = sources.flatMap(([source, description, drafts]) =>
    drafts.flatMap(({ args, ...draft }, at): Example[] => {
      const written = JSON.stringify(args);
      if (seen.has(written)) return [];
      seen.add(written);
      return [
        { id: `${source}-${at + 1}`, title: titleOf(name, args), description, args, resultHint, ...draft },
      ];
    }),
  );
  return all.slice(0, Math.min(most ?? MOST_EXAMPLES, MOST_EXAMPLES));
}

/** In the config either the arguments themselves, or these with words around them. */
function drafted(entry: unknown): readonly Draft[] {
  if (!isKeys(entry)) return [];
  const { args, title, description, resultHint } = entry;
  if (!isKeys(args) || !Object.keys(entry).every((key) => DESCRIBED.has(key))) return [{ args: entry }];
  return [
    {
      args,
      ...(typeof title === "string" && { title }),
      ...(typeof description === "string" && { description }),
      ...(typeof resultHint === "string" && { resultHint }),
    },
  ];
}

/** Whole examples, or one put together from those of its properties where no required one is left out. */
function inSchema({ inputSchema }: Tool): readonly Keys[] {
  const schema = fromRaw(inputSchema);
  if (!isKeys(schema)) return [];
  const whole = Array.isArray(schema["examples"]) ? schema["examples"].filter(isKeys) : [];
  if (whole.length > 0) return whole;
  const properties = isKeys(schema["properties"]) ? schema["properties"] : {};
  const pairs = Object.entries(properties).flatMap(([key, property]) => {
    const examples = isKeys(property) ? property["examples"] : undefined;
    return Array.isArray(examples) && examples.length > 0 ? [[key, examples[0] as unknown] as const] : [];
  });
  const args = Object.fromEntries(pairs);
  const required: readonly unknown[] = Array.isArray(schema["required"]) ? schema["required"] : [];
  const complete = required.every((key) => typeof key === "string" && Object.hasOwn(args, key));
  return pairs.length > 0 && complete ? [args] : [];
}

function titleOf(name: string, args: Keys): string {
  const keys = Object.keys(args);
  return summarize(keys.length > 0 ? `${name} with ${keys.join(", ")}` : `${name} without arguments`, 80);
}

function isKeys(value: unknown): value is Keys {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
