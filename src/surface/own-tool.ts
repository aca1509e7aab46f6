/** Tools of MetaMCP itself that are called like those of a child, under the reserved server name. There is one: reading stored results. */
import { callerOf } from "../kernel/call.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import { fromRaw, type Raw, toRaw } from "../kernel/raw.ts";
import type { ClientRequest } from "./face.ts";
import { readFields } from "./input.ts";
import type { StoredPage } from "./result/store.ts";
import type { Scope } from "./scope.ts";

export const OWN_SERVER = "metamcp";
export const NEXT = "metamcp/next";

export const READ = {
  name: "read",
  title: "Read a stored result",
  description: `One page of a result that was too large to show. The URI of the next page is in _meta["${NEXT}"] and the last content block.`,
  inputSchema: {
    type: "object",
    properties: { uri: { type: "string", description: "Of the resource link, or of the next page" } },
    required: ["uri"],
    additionalProperties: false,
  },
  annotations: { readOnlyHint: true, openWorldHint: false },
} as const;

export function callOwnTool(
  { results }: Scope,
  { tool, args }: { readonly tool: string; readonly args: Raw },
  { origin }: ClientRequest,
): Promise<Raw> {
  if (tool !== READ.name) throw noOwnTool(tool);
  const context = { server: OWN_SERVER, tool_id: `${OWN_SERVER}:${tool}` };
  const fields = readFields(READ.inputSchema, args, { name: `${OWN_SERVER} ${READ.name}`, context });
  const found = results.read(callerOf(origin), fromRaw(fields.get("uri") as Raw) as string);
  if (!("missing" in found)) return Promise.resolve(shown(found));
  throw new MetaMcpError("execution_failed", found.missing, {
    ...context,
    details: { expired: true, tool_id: found.source },
  });
}

export function noOwnTool(tool: string): MetaMcpError {
  return new MetaMcpError("tool_not_found", `MetaMCP itself has no tool "${tool}", only "${READ.name}".`, {
    server: OWN_SERVER,
    tool_id: `${OWN_SERVER}:${tool}`,
    details: { nearest: [READ.name] },
  });
}

/** A client without resources may hide `_meta` from its model: the way on is in the content too. */
function shown(page: StoredPage): Raw {
  const next = page.nextUri && { type: "resource_link", uri: page.nextUri, name: "next page" };
  return toRaw({
    content: [blockOf(page), ...(next ? [next] : [])],
    ...(page.nextUri && { _meta: { [NEXT]: page.nextUri } }),
  });
}

/** Half a picture is no picture, but never text either. */
function blockOf({ text, mimeType, wholeBinary, uri }: StoredPage): object {
  if (mimeType === undefined) return { type: "text", text };
  const [kind] = mimeType.split("/");
  if (wholeBinary && (kind === "image" || kind === "audio")) return { type: kind, data: text, mimeType };
  return { type: "resource", resource: { uri, mimeType, blob: text } };
}
