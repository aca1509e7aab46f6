/** The address of a registry as the user gave it. Credentials in it are taken out, so that no address that is shown, logged or stored holds them. */
import { basicOf } from "../../kernel/basic-auth.ts";

export interface Base {
  /** Ends in a slash, so that a path before `/v0.1` stays. */
  readonly url: URL;
  readonly authorization: string | undefined;
}

export const DEFAULT_REGISTRY = "https://registry.modelcontextprotocol.io";

/** Undefined if it is no address of the web. */
export function readBase(text: string): Base | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  if (url.protocol !== "https:" && url.protocol !== "http:") return undefined;
  const authorization = basicOf(url);
  url.username = "";
  url.password = "";
  url.search = "";
  url.hash = "";
  // People copy the address of the list as well as that of the registry.
  url.pathname = `${url.pathname.replace(/\/+$/, "").replace(/\/v0(?:\.1)?(?:\/servers)?$/, "")}/`;
  return { url, authorization };
}

export interface RegistryPage {
  readonly since: string | undefined;
  readonly cursor: string | undefined;
}

/** The most that the official registry gives at once. */
const PAGE_SIZE = 100;

export function pageUrl({ url }: Base, { since, cursor }: RegistryPage): URL {
  const page = new URL("v0.1/servers", url);
  page.searchParams.set("version", "latest");
  page.searchParams.set("limit", String(PAGE_SIZE));
  if (since) page.searchParams.set("updated_since", since);
  if (cursor) page.searchParams.set("cursor", cursor);
  return page;
}
