/** From a definition as a child wrote it to a Tool. Looks only at what it needs, and believes nothing about its form. */
import type { ServerId, TaskSupport } from "../kernel/call.ts";
import { asRaw, fromRaw, type Raw, toRaw } from "../kernel/raw.ts";
import { isObject, member, members } from "../rpc/slice.ts";
import type { Tool, ToolAnnotations } from "./tool.ts";

const ANY_OBJECT = toRaw({ type: "object" });
const KEYS = ["name", "title", "description", "annotations", "inputSchema", "execution"] as const;
const LONGEST_NAME = 512;
/** Enough for every search; the definition keeps the whole. */
const LONGEST_TEXT = 10_240;

/** Undefined if it is no tool: nothing could call what has no name. */
export function readTool(server: ServerId, written: Raw): Tool | undefined {
  if (!isObject(written)) return undefined;
  // A copy of its own: a slice would keep the whole message alive as long as the tool.
  const definition = asRaw(Buffer.from(written));
  const [rawName, rawTitle, rawDescription, rawAnnotations, schema, execution] = members(definition, KEYS);
  const name = textOf(rawName);
  if (!name || name.length > LONGEST_NAME) return undefined;
  const annotations = readAnnotations(rawAnnotations);
  const taskSupport = readTaskSupport(execution);
  return {
    server,
    name,
    title: clip(textOf(rawTitle) ?? annotations.title),
    description: clip(textOf(rawDescription)) ?? "",
    annotations,
    ...(taskSupport && { taskSupport }),
    definition,
    inputSchema: schema && isObject(schema) ? schema : ANY_OBJECT,
  };
}

function readAnnotations(raw: Raw | undefined): ToolAnnotations {
  if (!raw || !isObject(raw)) return {};
  const written = fromRaw(raw) as Record<string, unknown>;
  const annotations: { -readonly [key in keyof ToolAnnotations]: ToolAnnotations[key] } = {};
  const title = typeof written["title"] === "string" ? clip(written["title"]) : undefined;
  if (title !== undefined) annotations.title = title;
  for (const hint of ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] as const) {
    const value = written[hint];
    if (typeof value === "boolean") annotations[hint] = value;
  }
  return annotations;
}

function readTaskSupport(execution: Raw | undefined): TaskSupport | undefined {
  const raw = execution && isObject(execution) ? member(execution, "taskSupport") : undefined;
  const support = textOf(raw);
  return support === "optional" || support === "required" || support === "forbidden" ? support : undefined;
}

function textOf(raw: Raw | undefined): string | undefined {
  const value = raw && fromRaw(raw);
  return typeof value === "string" ? value : undefined;
}

/** Short texts as they are. Long ones are copied: a slice would keep the long one alive, and may end in half a character. */
export function clip(text: string | undefined, longest = LONGEST_TEXT): string | undefined {
  if (text === undefined || text.length <= longest) return text;
  return Buffer.from(text.slice(0, longest))
    .toString()
    .replace(/\uFFFD$/, "");
}
