/** Reads a tool definition of a child. Parses only the members it needs and ignores those of a wrong type. */
import type { ServerId, TaskSupport } from "../kernel/call.ts";
import { asRaw, fromRaw, type Raw, toRaw } from "../kernel/raw.ts";
import { isObject, member, members } from "../rpc/slice.ts";
import type { Tool, ToolAnnotations } from "./tool.ts";

const ANY_OBJECT = toRaw({ type: "object" });
const KEYS = ["name", "title", "description", "annotations", "inputSchema", "execution"] as const;
const MAX_NAME_LENGTH = 512;
/** Enough for the search. The definition keeps the whole text. */
const MAX_TEXT_LENGTH = 10_240;

/** Undefined if it is not an object with a usable name. */
export function readTool(server: ServerId, written: Raw): Tool | undefined {
  if (!isObject(written)) return undefined;
  // Copied, because a slice would keep the whole message in memory as long as the tool.
  const definition = asRaw(Buffer.from(written));
  const [rawName, rawTitle, rawDescription, rawAnnotations, schema, execution] = members(definition, KEYS);
  const name = textOf(rawName);
  if (!name || name.length > MAX_NAME_LENGTH) return undefined;
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

/** Shortens a long text. Copies it, because a slice would keep the long text in memory, and removes half a character at the end. */
export function clip(text: string | undefined, maxLength = MAX_TEXT_LENGTH): string | undefined {
  if (text === undefined || text.length <= maxLength) return text;
  return Buffer.from(text.slice(0, maxLength))
    .toString()
    .replace(/\uFFFD$/, "");
}
