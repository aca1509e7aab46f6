/** Pages and their addresses: reads and writes them. Whatever a person can come back to lives in the address: page, open drawer (`id`), tab, filters. */

/** With the shell around them, in the order of the navigation. */
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
  "settings",
  "me",
  "components",
] as const;
/** Without it: nobody is logged in yet. */
export const BARE_PAGES = ["login", "setup", "invitations"] as const;

export type ShellPage = (typeof SHELL_PAGES)[number];
export type BarePage = (typeof BARE_PAGES)[number];
export type PageName = ShellPage | BarePage;

export type Query = Readonly<Record<string, string>>;

export interface Address {
  /** "missing": there is no such page. */
  readonly page: PageName | "missing";
  /** What is open: a uuid, a number, a code. */
  readonly id?: string;
  readonly query: Query;
}

export interface Target {
  readonly page: PageName;
  readonly id?: string | undefined;
  /** Those that are undefined or empty are left out. */
  readonly query?: Readonly<Record<string, string | undefined>>;
}

const NAMES: ReadonlySet<string> = new Set([...SHELL_PAGES, ...BARE_PAGES]);

export function parseAddress({ pathname, search }: { pathname: string; search: string }): Address {
  const [name = "", id, ...rest] = pathname.slice(1).split("/");
  const query = Object.fromEntries(new URLSearchParams(search));
  if (pathname === "/") return { page: "overview", query };
  if (!NAMES.has(name) || name === "overview" || rest.length > 0) return { page: "missing", query };
  return { page: name as PageName, ...(id && { id: decoded(id) }), query };
}

export function hrefOf({ page, id, query = {} }: Target): string {
  const path = page === "overview" ? "/" : `/${page}${id ? `/${encodeURIComponent(id)}` : ""}`;
  const given = Object.entries(query).flatMap(([name, value]) => (value ? [[name, value]] : []));
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
