/** Resource URIs of many servers in one list. They are kept; where two servers have the same, the later one's is shown under an address of ours, which every resource can be read by. */
import { compileGlob, type Matcher } from "../../config/glob.ts";
import type { ServerId } from "../../kernel/call.ts";
import type { Named } from "./names.ts";
import type { PrefixedItems } from "./public-names.ts";

/** Nobody else's URI may look like ours. */
const SCHEME = "metamcp:";
const OURS = `${SCHEME}//server/`;

/** The URI itself stays readable in it, so that templates stay templates. */
export function addressOf(server: ServerId, uri: string): string {
  // Half a character cannot be encoded.
  return `${OURS}${encodeURIComponent(Buffer.from(server).toString())}/${uri}`;
}

/** The server and its own URI, if this is an address of ours. */
export function readAddress(uri: string): { server: ServerId; uri: string } | undefined {
  const end = uri.indexOf("/", OURS.length);
  if (!uri.startsWith(OURS) || end < 0) return undefined;
  try {
    return { server: decodeURIComponent(uri.slice(OURS.length, end)), uri: uri.slice(end + 1) };
  } catch {
    return undefined;
  }
}

/** In the order of the parts; `clash` hears which server's URI had to give way. */
export function placeAll<T extends Named>(
  parts: readonly PrefixedItems<T>[],
  clash: (item: T, keeper: T) => void = () => {},
): ReadonlyMap<string, T> {
  const placed = new Map<string, T>();
  for (const { items } of parts) {
    for (const item of items) {
      const keeper = placed.get(item.name);
      if (keeper) clash(item, keeper);
      const kept = !keeper && !item.name.startsWith(SCHEME);
      placed.set(kept ? item.name : addressOf(item.server, item.name), item);
    }
  }
  return placed;
}

const matchers = new WeakMap<Named, Matcher>();

/** Whether a template may have led to this URI. Generous: whoever has it says so itself. */
export function fitsTemplate(template: Named, uri: string): boolean {
  let matcher = matchers.get(template);
  if (!matcher) {
    matcher = compileGlob(template.name.replaceAll(/\{[^{}]*\}/g, "*"));
    matchers.set(template, matcher);
  }
  return matcher(uri);
}

/** How much of a template is fixed: the more, the better it fits. */
export function fixedLength({ name }: Named): number {
  return name.replaceAll(/\{[^{}]*\}/g, "").length;
}
