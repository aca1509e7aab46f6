/** `search` and `describe` of running code: the same answers as discovery gives, as results of a tool. */
import { declarationOf } from "../../catalog/declaration.ts";
import { summarize } from "../../catalog/summary.ts";
import { MetaMcpError } from "../../kernel/errors.ts";
import { fromRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { noSuchTool, requireServer } from "../call-tool.ts";
import type { ClientRequest } from "../face.ts";
import { readInput } from "../input.ts";
import { discover } from "../meta/discover.ts";
import { textsOf } from "../result/value.ts";
import type { Scope } from "../scope.ts";
import { resolveName } from "./resolve-name.ts";

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
/** Where the code looks further. */
const FINDER = "search(…)";

export async function searchTools(scope: Scope, args: Raw, request: ClientRequest): Promise<Raw> {
  const found = await discover(scope, readInput(SEARCH, args), request);
  const { tools } = JSON.parse(textsOf(found).join("")) as { tools?: readonly unknown[] };
  return toRaw({ content: [], structuredContent: tools ?? [] });
}

export async function describeTool(scope: Scope, args: Raw, request: ClientRequest): Promise<Raw> {
  const id = fromRaw(readInput(DESCRIBE, args).get("tool") as Raw) as string;
  const at = id.indexOf(":");
  if (at < 0)
    throw new MetaMcpError("validation_input", `describe takes "server:tool"; search("${id}") finds which.`);
  const written = { server: id.slice(0, at), tool: id.slice(at + 1) };
  const name = await resolveName(scope, written, request);
  requireServer(scope, name.server, FINDER);
  const tool = scope.catalog.snapshot.tool(name.server, name.tool);
  if (!tool) throw noSuchTool(scope, { ...name, finder: FINDER });
  const comment = summarize(tool.description, LONGEST_DESCRIPTION).replaceAll("*/", "* /");
  return toRaw({ content: [], structuredContent: `/** ${comment} */\n${declarationOf(tool)}` });
}
