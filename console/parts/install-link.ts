/** Links with which a client adds a server by itself, and the reader's own system. Pure. */

interface Entry {
  readonly name: string;
  readonly entry: Readonly<Record<string, unknown>>;
}

const LINKS: Readonly<Record<string, (of: Entry) => string>> = {
  cursor: ({ name, entry }) =>
    `cursor://anysphere.cursor-deeplink/mcp/install?name=${encodeURIComponent(name)}&config=${encodeURIComponent(btoa(JSON.stringify(entry)))}`,
  vscode: ({ name, entry }) => `vscode:mcp/install?${encodeURIComponent(JSON.stringify({ name, ...entry }))}`,
};

/** Undefined if the client has no such links. */
export function installLink(client: string, of: Entry): string | undefined {
  return LINKS[client]?.(of);
}

export type System = "linux" | "mac" | "windows";

export function systemOf(userAgent: string): System {
  if (/Windows/i.test(userAgent)) return "windows";
  return /Mac|iPhone|iPad/i.test(userAgent) ? "mac" : "linux";
}
