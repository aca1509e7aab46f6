/**
 * Resource URIs of many servers in one list. URIs are kept. If two servers have the same URI, the second one
 * is listed under an address `metamcp://server/…`. A URI of a page or a skill always becomes an address,
 * `ui://metamcp/SERVER/…` and `skill://SERVER/…`, because hosts know the server by it alone; they check the
 * scheme. Every resource can be read by such an address.
 */
import { isPage, PAGE_SCHEME } from "../../catalog/tool-app.ts";
import { compileGlob, type Matcher } from "../../config/glob.ts";
import type { ServerId } from "../../kernel/call.ts";
import { perObject } from "../../kernel/per-object.ts";
import { SKILL_SCHEME } from "../../kernel/skill-rules.ts";
import type { Named } from "./names.ts";
import type { PrefixedItems } from "./public-names.ts";

/** Reserved: a server's URI with this scheme is listed under an address. */
const SCHEME = "metamcp:";
const ADDRESS_PREFIX = `${SCHEME}//server/`;
const PAGE_PREFIX = `${PAGE_SCHEME}metamcp/`;

/** What stands before the name of the server in an address, and the scheme that it replaces. */
const FORMS = [
  { scheme: SKILL_SCHEME, prefix: SKILL_SCHEME },
  { scheme: PAGE_SCHEME, prefix: PAGE_PREFIX },
  { scheme: "", prefix: ADDRESS_PREFIX },
] as const;
const formOf = (uri: string, key: "scheme" | "prefix") => FORMS.find((form) => uri.startsWith(form[key]));

/** Whether it could be taken for the address of a page, also if it is none. */
export function looksLikePageAddress(uri: string): boolean {
  return uri.slice(0, PAGE_PREFIX.length).toLowerCase() === PAGE_PREFIX;
}

/** Case does not matter in a scheme. */
export function isSkillUri(uri: string): boolean {
  return uri.slice(0, SKILL_SCHEME.length).toLowerCase() === SKILL_SCHEME;
}

/** A server's own URI that could be taken for an address, or that is only shown as one. */
function isReserved(uri: string): boolean {
  return uri.startsWith(SCHEME) || isPage(uri) || isSkillUri(uri);
}

/** The URI is not encoded in the address, so that templates stay templates. */
export function addressOf(server: ServerId, uri: string): string {
  // The conversion to a Buffer replaces lone surrogates, for which encodeURIComponent throws.
  const name = encodeURIComponent(Buffer.from(server).toString());
  const { prefix, scheme } = formOf(uri, "scheme") ?? FORMS[2];
  return `${prefix}${name}/${uri.slice(scheme.length)}`;
}

/** Returns the server and its own URI, or undefined if this is not an address. */
export function readAddress(uri: string): { server: ServerId; uri: string } | undefined {
  const form = formOf(uri, "prefix");
  const end = form ? uri.indexOf("/", form.prefix.length) : -1;
  if (!form || end < 0) return undefined;
  const { prefix, scheme } = form;
  try {
    return { server: decodeURIComponent(uri.slice(prefix.length, end)), uri: scheme + uri.slice(end + 1) };
  } catch {
    return undefined;
  }
}

/**
 * Returns the items by URI, in the order of the parts. Calls `clash` for each item whose URI another server
 * already has.
 */
export function assignUris<T extends Named>(
  parts: readonly PrefixedItems<T>[],
  clash: (item: T, keeper: ServerId) => void = () => {},
): ReadonlyMap<string, T> {
  const assigned = new Map<string, T>();
  for (const { items } of parts) {
    for (const item of items) {
      const keeper = assigned.get(item.name)?.server ?? item.server;
      if (keeper !== item.server) clash(item, keeper);
      const kept = keeper === item.server && !assigned.has(item.name) && !isReserved(item.name);
      assigned.set(kept ? item.name : addressOf(item.server, item.name), item);
    }
  }
  return assigned;
}

const matcherOf = perObject(({ name }: Named): Matcher => compileGlob(name.replaceAll(/\{[^{}]*\}/g, "*")));

/**
 * Whether the URI may come from this template. Matches generously, because the server decides in the end. A
 * page only comes from a template of pages: one that fits everything does not make all pages its server's.
 */
export function fitsTemplate(template: Named, uri: string): boolean {
  if (isPage(uri) && !isPage(template.name)) return false;
  return matcherOf(template)(uri);
}

/** The length of a template's fixed text. A longer one is a more specific match. */
export function fixedLength({ name }: Named): number {
  return name.replaceAll(/\{[^{}]*\}/g, "").length;
}
