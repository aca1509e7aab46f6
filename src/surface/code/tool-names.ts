/**
 * The tool names for `Object.keys(tools.server)`. They are loaded only if the code seems to list keys. A server that the
 * code names is started if its tools are not known.
 */
import type { ToolNames } from "../../sandbox/executor.ts";
import type { Scope } from "../scope.ts";
import type { ClientRequest } from "../surface.ts";
import { resolveServer } from "./resolve-name.ts";

const LISTS_KEYS = /\b(?:keys|entries|getOwnPropertyNames|ownKeys|in)\b/;
const SERVER_NAME = /\btools\s*(?:\.\s*|\[\s*["'`])([^"'`\].\s(;,)]+)/g;

export async function toolNames(
  scope: Scope,
  code: string,
  { origin }: ClientRequest,
): Promise<ToolNames | undefined> {
  if (!LISTS_KEYS.test(code)) return undefined;
  const named = [...code.matchAll(SERVER_NAME)].map(([, written = ""]) =>
    resolveServer(scope, written, origin),
  );
  const servers = [...new Set(named)].filter((server) => scope.has(server, origin));
  const view = scope.view(origin);
  await view.loadCached();
  await scope.loader.loadMissing(servers, origin);
  const { listings } = view.snapshot;
  return Object.fromEntries(
    [...listings]
      .filter(([server]) => scope.has(server, origin))
      .map(([server, { tools }]) => [server, tools.map(({ name }) => name)]),
  );
}
