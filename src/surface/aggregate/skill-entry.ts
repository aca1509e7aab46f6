/** Entries of skills as clients see them: each URI is an address that names the server. Digests stay. */
import type { Item } from "../../catalog/item.ts";
import { joinArray } from "../../catalog/json-array.ts";
import { skillOf } from "../../catalog/skill.ts";
import { fromRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { elements, isArray, isObject, isString, member, withMember } from "../../rpc/slice.ts";
import { addressOf } from "./uris.ts";

/** The extension requires them in both eras. An entry can change at any time, and depends on the client. */
export const CACHE_HINTS: readonly (readonly [string, Raw])[] = [
  ["ttlMs", toRaw(0)],
  ["cacheScope", toRaw("private")],
];

/** The digests cover the bytes of files and not their URIs. */
export function skillAt(item: Item, uri: string): Raw {
  const { files } = skillOf(item);
  const entry = withMember(item.definition, "uri", toRaw(uri));
  if (!files) return entry;
  const moved = files.map((file) => ({ ...file, uri: addressOf(item.server, file.uri) }));
  return withMember(entry, "resources", toRaw(moved));
}

/** A result with the addresses of what it contains in place of the server's own URIs. */
export function withAddresses(result: Raw, list: "contents" | "resources", server: string): Raw {
  const items = isObject(result) ? member(result, list) : undefined;
  if (!items || !isArray(items)) return result;
  const moved = elements(items).map((item) => {
    const uri = isObject(item) ? member(item, "uri") : undefined;
    return uri && isString(uri)
      ? withMember(item, "uri", toRaw(addressOf(server, fromRaw(uri) as string)))
      : item;
  });
  return withMember(result, list, joinArray(moved));
}
