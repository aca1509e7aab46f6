/** Checks whether a server can be used, and says what to do if not. */
import { MetaMcpError } from "../kernel/errors.ts";
import type { Asker } from "../kernel/list-key.ts";
import { nearest } from "../kernel/nearest.ts";
import { visible } from "../kernel/visible.ts";
import type { ScopeCatalog } from "./scope.ts";

/** Throws an error that names the nearest servers or says what to fix, unless the server can be used. */
export function requireServer(scope: ScopeCatalog, name: string, asker: Asker, finder?: string): void {
  if (scope.has(name, asker)) return;
  const status = scope.server(name, asker);
  if (!status) throw unknownServer(scope, name, asker, finder);
  throw new MetaMcpError(
    "server_unavailable",
    `Server "${name}" cannot be used: ${status.reason}. A change of the config or of a permission needs no restart.`,
    { server: name, retryable: false },
  );
}

/** The same for a server that is hidden from the client as for one that does not exist. */
export function unknownServer(
  scope: ScopeCatalog,
  name: string,
  asker: Asker,
  finder?: string,
): MetaMcpError {
  const names = scope.servers(asker).map((server) => server.name);
  return new MetaMcpError(
    "server_not_found",
    `No server "${visible(name)}" is configured. ${suggest(name, names, "server", scope.finder ?? finder)}`,
    { server: name, details: { nearest: nearest(name, names) } },
  );
}

/** Returns a hint with the nearest names and the tool that lists all of them. */
export function suggest(
  name: string,
  candidates: readonly string[],
  kind: "server" | "tool",
  finder = "mcp_discover",
): string {
  if (candidates.length === 0) return `There are no ${kind}s.`;
  const close = nearest(name, candidates);
  const hint = close.length > 0 ? `Nearest: ${close.map((one) => visible(one)).join(", ")}. ` : "";
  return `${hint}${finder} shows what is available.`;
}
