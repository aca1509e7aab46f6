/**
 * `search`, `describe` and `read` for running code. They return the same answers as the own tools, in the
 * form of tool results.
 */

import { declarationOf } from "../../catalog/declaration.ts";
import { summarize } from "../../catalog/summary.ts";
import type { Tool } from "../../catalog/tool.ts";
import { BUILTIN_SERVER } from "../../kernel/builtin-server.ts";
import { MetaMcpError } from "../../kernel/errors.ts";
import { fromRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { withMember } from "../../rpc/slice.ts";
import { asBuiltinTool, callBuiltinTool } from "../builtin/builtin-tool.ts";
import { wholeStored } from "../builtin/read.ts";
import { READ, requireBuiltinTool } from "../builtin/tools.ts";
import { readInput } from "../input.ts";
import { discover } from "../meta/discover.ts";
import { noSuchTool } from "../no-such-tool.ts";
import { requireServer } from "../require-server.ts";
import { isStoredUri } from "../result/store.ts";
import { textsOf } from "../result/value.ts";
import type { Scope, ScopeCatalog, ScopeFacts } from "../scope.ts";
import type { ClientRequest } from "../surface.ts";
import { resolveName, type ServerTool } from "./resolve-name.ts";

const SEARCH = {
  name: "search",
  inputSchema: {
    properties: {
      query: { type: "string" },
      server: { type: "string" },
      limit: { type: "integer", minimum: 1 },
      detail: { enum: ["schema", "types"] },
    },
    required: ["query"],
  },
} as const;

const DESCRIBE = {
  name: "describe",
  inputSchema: { properties: { tool: { type: "string" } }, required: ["tool"] },
} as const;

const LONGEST_DESCRIPTION = 2_000;
/** Named in hints as the way to find tools. */
const FINDER = "search(…)";

export async function searchTools(
  scope: ScopeCatalog & ScopeFacts,
  args: Raw,
  request: ClientRequest,
): Promise<Raw> {
  const found = await discover(scope, readInput(SEARCH, args), request);
  const { tools } = JSON.parse(textsOf(found).join("")) as { tools?: readonly unknown[] };
  return toRaw({ content: [], structuredContent: tools ?? [] });
}

/** Returns a stored result whole, because code works with values. Reads a resource like the tool `read`. */
export async function readWhole(scope: Scope, args: Raw, request: ClientRequest): Promise<Raw> {
  const uri = fromRaw(readInput(READ, args).get("uri") as Raw) as string;
  if (!isStoredUri(uri)) return await callBuiltinTool(scope, { tool: READ.name, args }, request);
  return await asBuiltinTool(scope, READ.name, request, async () =>
    // Reading a stored result succeeds even if the result itself is an error.
    withMember(wholeStored(scope, uri, request), "isError", toRaw(false)),
  );
}

export async function describeTool(scope: ScopeCatalog, args: Raw, request: ClientRequest): Promise<Raw> {
  const id = fromRaw(readInput(DESCRIBE, args).get("tool") as Raw) as string;
  const at = id.indexOf(":");
  if (at < 0)
    throw new MetaMcpError("validation_input", `describe takes "server:tool"; find it with search("${id}").`);
  const written = { server: id.slice(0, at), tool: id.slice(at + 1) };
  const tool = await findTool(scope, written, request);
  const comment = summarize(tool.description, LONGEST_DESCRIPTION).replaceAll("*/", "* /");
  return toRaw({ content: [], structuredContent: `/** ${comment} */\n${declarationOf(tool)}` });
}

async function findTool(scope: ScopeCatalog, written: ServerTool, request: ClientRequest): Promise<Tool> {
  const { origin } = request;
  if (written.server === BUILTIN_SERVER) return requireBuiltinTool(scope, written.tool, origin);
  const name = await resolveName(scope, written, request);
  requireServer(scope, name.server, origin, FINDER);
  const tool = scope.view(origin).snapshot.tool(name.server, name.tool);
  if (!tool) throw noSuchTool(scope, { ...name, finder: FINDER }, origin);
  return tool;
}
