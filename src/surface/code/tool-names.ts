/** The names that `Object.keys(tools.server)` shows. Only code that may ask for them gets them; a server that it names is started for that where nothing is known of it. */
import type { ToolNames } from "../../sandbox/executor.ts";
import type { Scope } from "../scope.ts";
import type { ClientRequest } from "../surface.ts";
import { resolveServer } from "./resolve-name.ts";

const LISTS = /\b(?:keys|entries|getOwnPropertyNames|ownKeys|in)\b/;
const NAMED = /\btools\s*(?:\.\s*|\[\s*["'`])([^"'`\].\s(;,)]+)/g;

export async function toolNames(
  scope: Scope,
  code: string,
  { origin }: ClientRequest,
): Promise<ToolNames | undefined> {
  if (!LISTS.test(code)) return undefined;
  const named = [...code.matchAll(NAMED)].map(([, written = ""]) => resolveServer(scope, written));
  const servers = [...new Set(named)].filter((server) => scope.has(server));
  const view = scope.view(origin);
  await view.loadCached();
  await scope.loader.learn(servers, origin);
  const { listings } = view.snapshot;
  return Object.fromEntries(
    [...listings].map(([server, { tools }]) => [server, tools.map(({ name }) => name)]),
  );
}
