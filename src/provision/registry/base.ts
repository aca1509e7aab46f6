/**
 * Parses the address of a registry. Removes credentials from it, so that they are never shown, logged or
 * stored.
 */
import { basicOf } from "../../kernel/basic-auth.ts";

export interface Base {
  /** Ends in a slash, so that a path before `/v0.1` is kept. */
  readonly url: URL;
  readonly authorization: string | undefined;
}

/** A registry that somebody chose. */
export interface RegistrySource {
  readonly url: string;
  /** Sent as a bearer token. */
  readonly token?: string | undefined;
}

export const DEFAULT_REGISTRY = "https://registry.modelcontextprotocol.io";

/** Undefined if it is not an http or https URL. */
export function readBase({ url: text, token }: RegistrySource): Base | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  if (url.protocol !== "https:" && url.protocol !== "http:") return undefined;
  const authorization = token ? `Bearer ${token}` : basicOf(url);
  url.username = "";
  url.password = "";
  url.search = "";
  url.hash = "";
  // Users may give the address of the list instead of the registry's.
  url.pathname = `${url.pathname.replace(/\/+$/, "").replace(/\/v0(?:\.1)?(?:\/servers)?$/, "")}/`;
  return { url, authorization };
}

export interface RegistryPage {
  readonly since: string | undefined;
  readonly cursor: string | undefined;
}

/** The maximum of the official registry. */
const PAGE_SIZE = 100;

export function pageUrl({ url }: Base, { since, cursor }: RegistryPage): URL {
  const page = new URL("v0.1/servers", url);
  page.searchParams.set("version", "latest");
  page.searchParams.set("limit", String(PAGE_SIZE));
  if (since) page.searchParams.set("updated_since", since);
  if (cursor) page.searchParams.set("cursor", cursor);
  return page;
}
