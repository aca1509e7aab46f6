/**
 * MCP Apps: the page that a tool names, which a host draws for its results, and who may call the tool. Reads
 * and writes both keys of `_meta`, in definitions and in results.
 */
import { perObject } from "../kernel/per-object.ts";
import { EMPTY_OBJECT, fromRaw, type Raw, scalarOf, toRaw } from "../kernel/raw.ts";
import { lacking } from "../rpc/era-2026/capability.ts";
import { isObject, mayHave, member, mentions, withMember } from "../rpc/slice.ts";

/** The extension. */
export const APPS = "io.modelcontextprotocol/ui";
const NEEDED = { extensions: { [APPS]: {} } };

/** The scheme of pages, which hosts check. */
export const PAGE_SCHEME = "ui://";
const FLAT_KEY = "ui/resourceUri";

/** Whether the URI is that of a page. Case does not matter in a scheme. */
export function isPage(uri: string): boolean {
  return uri.slice(0, PAGE_SCHEME.length).toLowerCase() === PAGE_SCHEME;
}

/** The URI of the page that a definition or a result names, in the newer key if it has two. */
export const pageOf = perObject((described: Raw): string | undefined => {
  if (!mentions(described, "\\", 'resourceUri"')) return undefined;
  const { meta, ui } = keysOf(described);
  const both = [ui && member(ui, "resourceUri"), meta && member(meta, FLAT_KEY)];
  return both.map(scalarOf).find((uri) => typeof uri === "string" && isPage(uri)) as string | undefined;
});

/** The definition or result with another URI in each key that has one. */
export function withPage(described: Raw, uri: string): Raw {
  const { meta, ui } = keysOf(described);
  if (!meta) return described;
  let changed = meta;
  if (ui && member(ui, "resourceUri"))
    changed = withMember(changed, "ui", withMember(ui, "resourceUri", toRaw(uri)));
  if (member(meta, FLAT_KEY)) changed = withMember(changed, FLAT_KEY, toRaw(uri));
  return withMember(described, "_meta", changed);
}

/** A result with the page in both keys, whether or not it has them. */
export function withNewPage(result: Raw, uri: string): Raw {
  const { meta = EMPTY_OBJECT, ui = EMPTY_OBJECT } = keysOf(result);
  const named = withMember(meta, "ui", withMember(ui, "resourceUri", toRaw(uri)));
  return withMember(result, "_meta", withMember(named, FLAT_KEY, toRaw(uri)));
}

/** Whether a client with these capabilities draws pages. Its host decides what the model may call. */
export const knowsApps = perObject(
  (capabilities: Raw): boolean => capabilities.includes(APPS) && lacking(capabilities, NEEDED) === undefined,
);

type Audience = "model" | "app";

/** Whether the tool is for models, or for apps. Most are for both. */
export function isFor(audience: Audience, definition: Raw): boolean {
  if (!mayHave(definition, "visibility")) return true;
  const { ui } = keysOf(definition);
  const written = ui && member(ui, "visibility");
  const visibility = written && fromRaw(written);
  return !Array.isArray(visibility) || visibility.includes(audience);
}

function keysOf(described: Raw): { readonly meta?: Raw; readonly ui?: Raw } {
  const meta = member(described, "_meta");
  if (!meta || !isObject(meta)) return {};
  const ui = member(meta, "ui");
  return ui && isObject(ui) ? { meta, ui } : { meta };
}
