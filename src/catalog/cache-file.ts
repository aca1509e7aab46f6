/** The form of a schema.json: tool definitions byte by byte as the child wrote them, one entry per identity. No I/O. */
import type { ServerId } from "../kernel/call.ts";
import { asRaw, fromRaw, type Raw, toRaw } from "../kernel/raw.ts";
import { elements, isObject, joinObject, members } from "../rpc/slice.ts";
import { type About, readAbout, sameAbout } from "./about.ts";
import { isArray, joinArray } from "./json-array.ts";
import { readTool } from "./read-tool.ts";
import { sameTools } from "./same.ts";
import type { Tool } from "./tool.ts";

/** Another text in the file means that we cannot read it. */
const FORMAT = toRaw("metamcp tools 1");

export interface CacheEntry {
  readonly identity: string;
  readonly about: Raw | undefined;
  /** An array of definitions. */
  readonly tools: Raw;
}

/** Throws if the text is no JSON; entries that are not ours are left out. */
export function decodeEntries(text: string): readonly CacheEntry[] {
  JSON.parse(text);
  const file = asRaw(Buffer.from(text.trim()));
  if (!isObject(file)) return [];
  const [format, entries] = members(file, ["format", "entries"]);
  if (!format?.equals(FORMAT) || !entries || !isArray(entries)) return [];
  return elements(entries).flatMap((raw) => decodeEntry(raw) ?? []);
}

function decodeEntry(raw: Raw): CacheEntry | undefined {
  if (!isObject(raw)) return undefined;
  const [rawIdentity, about, tools] = members(raw, ["identity", "about", "tools"]);
  const identity = rawIdentity && fromRaw(rawIdentity);
  return typeof identity === "string" && tools && isArray(tools) ? { identity, about, tools } : undefined;
}

export function encodeEntries(entries: readonly CacheEntry[]): Raw {
  const written = entries.map(({ identity, about, tools }) =>
    joinObject([
      ["identity", toRaw(identity)],
      ["about", about],
      ["tools", tools],
    ]),
  );
  return joinObject([
    ["format", FORMAT],
    ["entries", joinArray(written)],
  ]);
}

export function entryOf(identity: string, list: { tools: readonly Tool[]; about: About }): CacheEntry {
  return { identity, about: toRaw(list.about), tools: joinArray(list.tools.map((tool) => tool.definition)) };
}

/** What is no tool is left out, as in the list of a child. */
export function listOf(
  server: ServerId,
  { about, tools }: CacheEntry,
): { tools: readonly Tool[]; about: About } {
  const byName = new Map<string, Tool>();
  for (const definition of elements(tools)) {
    const tool = readTool(server, definition);
    if (tool && !byName.has(tool.name)) byName.set(tool.name, tool);
  }
  return { tools: [...byName.values()], about: readAbout(about) };
}

export function sameEntry(a: CacheEntry, b: CacheEntry): boolean {
  if (a.identity !== b.identity || !sameAbout(readAbout(a.about), readAbout(b.about))) return false;
  return a.tools.equals(b.tools) || sameTools(listOf("", a).tools, listOf("", b).tools);
}
