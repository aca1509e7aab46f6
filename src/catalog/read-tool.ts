/** Reads a tool definition of a child and repairs it where needed. Parses only the members it needs. */
import type { ServerId, TaskSupport } from "../kernel/call.ts";
import { asRaw, fromRaw, type Raw, toRaw } from "../kernel/raw.ts";
import { isObject, member, members } from "../rpc/slice.ts";
import { repairTool } from "./repair.ts";
import type { Note } from "./repair-rules.ts";
import type { Tool, ToolAnnotations } from "./tool.ts";

const ANY_OBJECT = toRaw({ type: "object" });
const KEYS = ["title", "description", "annotations", "inputSchema", "execution"] as const;
const MAX_NAME_LENGTH = 512;
/** Enough for the search. The definition keeps the whole text. */
const MAX_TEXT_LENGTH = 10_240;

/** Undefined if it is not an object with a usable name and schema. `note` gets what was wrong. */
export function readTool(server: ServerId, written: Raw, note: Note = () => {}): Tool | undefined {
  const name = isObject(written) ? textOf(member(written, "name")) : undefined;
  if (!name || name.length > MAX_NAME_LENGTH) return undefined;
  // Copied, because a slice would keep the whole message in memory as long as the tool.
  const definition = repairTool(asRaw(Buffer.from(written)), note);
  if (!definition) return undefined;
  const [rawTitle, rawDescription, rawAnnotations, schema, execution] = members(definition, KEYS);
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
    inputSchema: schema ?? ANY_OBJECT,
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

/**
 * Shortens a long text. Copies it, because a slice would keep the long text in memory, and removes half a
 * character at the end.
 */
export function clip(text: string | undefined, maxLength = MAX_TEXT_LENGTH): string | undefined {
  if (text === undefined || text.length <= maxLength) return text;
  return Buffer.from(text.slice(0, maxLength))
    .toString()
    .replace(/\uFFFD$/, "");
}
