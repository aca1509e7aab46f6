/** `metamcp describe`: shows the description and the inputs of one tool, as describe_tool returns them. */
import { EMPTY_OBJECT, fromRaw, type Raw, toRaw } from "../kernel/raw.ts";
import { elements, entries, member } from "../rpc/slice.ts";
import { callMetatools, type Result, textOf } from "./call-surface.ts";
import type { Command } from "./command.ts";
import { print, printError, printJson } from "./print.ts";
import { readable } from "./readable.ts";
import { spin } from "./spinner.ts";
import { columns, table } from "./table.ts";
import { readToolName } from "./tool-name.ts";
import { withEngine } from "./with-engine.ts";
import { wrap } from "./wrap.ts";

interface Described {
  readonly summary: string;
  readonly tool?: {
    readonly title?: string;
    readonly description?: string;
    readonly inputSchema?: { readonly properties?: Readonly<Record<string, { description?: unknown }>> };
  };
  readonly schemaInfo?: {
    readonly required: readonly string[];
    readonly types: Readonly<Record<string, string>>;
  };
  readonly notes?: string;
  readonly examples?: readonly { readonly description: string }[];
  readonly externalRefs?: readonly string[];
  readonly tokens: Readonly<Record<string, number>>;
}

export const command: Command = {
  name: "describe",
  usage: "describe SERVER TOOL (or SERVER:TOOL)",
  summary: "Show what a tool does and which inputs it takes.",
  flags: {
    detail: {
      kind: "choice",
      choices: ["summary", "schema", "full"],
      default: "full",
      env: false,
      help: "How much to show.",
    },
  },
  takes: [1, 2],
  async run(given) {
    const { server, tool } = readToolName(given.positionals, command.usage);
    const { detail } = given.settings as unknown as { detail: string };
    const { json } = given.settings;
    const spinner = spin(`asking ${server} …`);
    return await withEngine(given, async ({ scope }) => {
      const tool_id = `${server}:${tool}`;
      const raw = await callMetatools(scope, "describe_tool", toRaw({ tool_id, detail_level: detail }));
      spinner.stop();
      const result = fromRaw(raw) as Result;
      const written = member(raw, "structuredContent") ?? EMPTY_OBJECT;
      const shown = wrap(result.isError ? textOf(result) : forPeople(tool_id, written), columns());
      if (json) printJson(written.toString());
      else if (result.isError) printError(shown);
      else print(shown);
      return result.isError ? 1 : 0;
    }).finally(() => spinner.stop());
  },
};

function forPeople(id: string, written: Raw): string {
  const described = fromRaw(written) as Described;
  const args = membersOf(written, "examples", elements).map((example) => member(example, "args"));
  const { summary, tool, notes, examples = [], externalRefs = [], tokens } = described;
  const costs = Object.entries(tokens).map(([level, count]) => `${level} ~${count}`);
  const sections = [
    `${id}${tool?.title ? ` (${tool.title})` : ""}`,
    tool?.description?.trim() || summary,
    inputs(described, written),
    notes ?? "",
    examples.map(({ description }, at) => `${description}: ${args[at]?.toString()}`).join("\n"),
    externalRefs.join("\n"),
    `Tokens for a model: ${costs.join(", ")}.`,
  ];
  return readable(sections.filter((section) => section !== "").join("\n\n"));
}

/** Reads a member without parsing it, because JSON.parse would round large numbers. */
function membersOf<T>(written: Raw, key: string, read: (raw: Raw) => readonly T[]): readonly T[] {
  const found = member(written, key);
  return found ? read(found) : [];
}

function inputs({ schemaInfo, tool }: Described, written: Raw): string {
  if (!schemaInfo) return "";
  const { types, required } = schemaInfo;
  const defaults = new Map(membersOf(written, "schemaInfo", (info) => membersOf(info, "defaults", entries)));
  const properties = tool?.inputSchema?.properties ?? {};
  const rows = Object.entries(types).map(([name, type]) => {
    const description = Object.hasOwn(properties, name) ? properties[name]?.description : undefined;
    return [
      name,
      type,
      required.includes(name) ? "required" : "",
      defaults.get(name)?.toString() ?? "",
      typeof description === "string" ? description : "",
    ];
  });
  return rows.length > 0
    ? table(["INPUT", "TYPE", "", "DEFAULT", "DESCRIPTION"], rows)
    : "It takes no inputs.";
}
