/** Stored results as resources. Other resources do not exist on the surfaces that use this. */
import { callerOf } from "../../kernel/call.ts";
import { fromRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { INVALID_PARAMS, RpcError } from "../../rpc/rpc-error.ts";
import { members } from "../../rpc/slice.ts";
import type { ClientRequest } from "../face.ts";
import { NEXT } from "../own-tool.ts";
import type { Scope } from "../scope.ts";

const NOT_FOUND = -32002;
const MOST_LISTED = 100;
const NO_TEMPLATES = toRaw({ resourceTemplates: [] });

/** Undefined: the request is about something else. */
export function handleResources(
  { results }: Scope,
  { method, params, origin }: ClientRequest,
): Raw | undefined {
  if (method === "resources/list") return list(results.list(callerOf(origin)).slice(0, MOST_LISTED));
  if (method === "resources/templates/list") return NO_TEMPLATES;
  if (method !== "resources/read") return undefined;
  const [raw] = params ? members(params, ["uri"]) : [];
  const uri = raw && fromRaw(raw);
  if (typeof uri !== "string") throw RpcError.of(INVALID_PARAMS, "resources/read needs a uri");
  const page = results.read(callerOf(origin), uri);
  if ("missing" in page) throw RpcError.of(NOT_FOUND, page.missing, { uri });
  const { text, mimeType, nextUri } = page;
  return toRaw({
    contents: [
      mimeType === undefined ? { uri, mimeType: "application/json", text } : { uri, mimeType, blob: text },
    ],
    ...(nextUri && { _meta: { [NEXT]: nextUri } }),
  });
}

function list(stored: readonly { uri: string; source: string; bytes: number }[]): Raw {
  return toRaw({
    resources: stored.map(({ uri, source, bytes }) => ({
      uri,
      name: source,
      description: "A result that was too large to show, in pages",
      mimeType: "application/json",
      size: bytes,
    })),
  });
}
