/**
 * Reads and writes the addresses of pages. An address holds everything that a person can bookmark: page, open
 * drawer (`id`), tab and filters.
 */

/** Pages inside the shell, in the order of the navigation. */
export const SHELL_PAGES = [
  "overview",
  "servers",
  "tools",
  "try",
  "namespaces",
  "endpoints",
  "traffic",
  "sessions",
  "audit",
  "keys",
  "people",
  "requests",
  "history",
  "replicas",
  "settings",
  "me",
  "components",
] as const;
/** Pages without the shell, for people who are not logged in. */
export const BARE_PAGES = ["login", "setup", "invitations"] as const;

export type ShellPage = (typeof SHELL_PAGES)[number];
export type BarePage = (typeof BARE_PAGES)[number];
export type PageName = ShellPage | BarePage;

export type Query = Readonly<Record<string, string>>;

export interface Address {
  /** "missing": the page does not exist. */
  readonly page: PageName | "missing";
  /** Names the open object: a uuid, a number or a code. */
  readonly id?: string;
  readonly query: Query;
}

export interface Target {
  readonly page: PageName;
  readonly id?: string | undefined;
  /** Undefined and empty values are omitted. */
  readonly query?: Readonly<Record<string, string | undefined>>;
}

const NAMES: ReadonlySet<string> = new Set([...SHELL_PAGES, ...BARE_PAGES]);

export function parseAddress({ pathname, search }: { pathname: string; search: string }): Address {
  const [name = "", id, ...rest] = pathname.slice(1).split("/");
  const query = Object.fromEntries(new URLSearchParams(search));
  if (pathname === "/") return { page: "overview", query };
  if (!NAMES.has(name) || name === "overview" || rest.length > 0) return { page: "missing", query };
  return { page: name as PageName, ...(id && { id: decodeSafely(id) }), query };
}

export function hrefOf({ page, id, query = {} }: Target): string {
  const path = page === "overview" ? "/" : `/${page}${id ? `/${encodeURIComponent(id)}` : ""}`;
  const given = Object.entries(query).flatMap(([name, value]) => (value ? [[name, value]] : []));
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}

function decodeSafely(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
