/**
 * MCP Apps: the page that a tool names, which a host draws for its results. Reads and writes both keys of
 * `_meta`, in definitions and in results.
 */
import { fromRaw, type Raw, toRaw } from "../kernel/raw.ts";
import { isObject, mayHave, member, withMember } from "../rpc/slice.ts";

const SCHEME = "ui://";
const FLAT_KEY = "ui/resourceUri";

/** Whether the URI is that of a page. */
export function isPage(uri: string): boolean {
  return uri.startsWith(SCHEME);
}

const pages = new WeakMap<Raw, string | undefined>();

/** The URI of the page that a definition or a result names. */
export function pageOf(described: Raw): string | undefined {
  if (!pages.has(described)) pages.set(described, readPage(described));
  return pages.get(described);
}

function readPage(described: Raw): string | undefined {
  if (!mayHave(described, FLAT_KEY) && !mayHave(described, "resourceUri")) return undefined;
  const { meta, ui } = keysOf(described);
  const written = (ui && member(ui, "resourceUri")) ?? (meta && member(meta, FLAT_KEY));
  const uri = written && fromRaw(written);
  return typeof uri === "string" && isPage(uri) ? uri : undefined;
}

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

function keysOf(described: Raw): { readonly meta?: Raw; readonly ui?: Raw } {
  const meta = member(described, "_meta");
  if (!meta || !isObject(meta)) return {};
  const ui = member(meta, "ui");
  return ui && isObject(ui) ? { meta, ui } : { meta };
}
