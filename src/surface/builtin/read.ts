/** The own tool `read`: reads stored results by pages or lines, and resources of servers. */
import { BUILTIN_SERVER } from "../../kernel/builtin-server.ts";
import { callerOf } from "../../kernel/call.ts";
import { MetaMcpError } from "../../kernel/errors.ts";
import { fromRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import type { Input } from "../input.ts";
import { resourceTarget } from "../resource-target.ts";
import { isStoredUri, type Missing, type StoredPage } from "../result/store.ts";
import { type LineQuery, linesOf, selectLines, textLines } from "../result/text-view.ts";
import type { Scope, ScopeFacts } from "../scope.ts";
import type { ClientRequest } from "../surface.ts";
import { askServer } from "./ask-server.ts";
import { READ } from "./tools.ts";

export const NEXT = "metamcp/next";

/** One entry of the result of `resources/read`. */
interface Contents {
  readonly uri?: string;
  readonly mimeType?: string;
  readonly text?: string;
  readonly blob?: string;
}

export async function read(scope: Scope, input: Input, request: ClientRequest): Promise<Raw> {
  const value = <T>(key: string): T | undefined => {
    const raw = input.get(key);
    return raw && (fromRaw(raw) as T);
  };
  const uri = value<string>("uri") ?? "";
  const query = { find: value<string>("find"), from: value<number>("from"), lines: value<number>("lines") };
  const byLines = Object.values(query).some((part) => part !== undefined);
  if (isStoredUri(uri)) return byLines ? storedLines(scope, uri, query, request) : page(scope, uri, request);

  const target = await resourceTarget(scope, { uri, server: value<string>("server") }, request);
  const params = toRaw({ uri: target.uri });
  const forwarded = { server: target.server, method: "resources/read", params, tool: READ.name };
  const answer = await askServer(scope, forwarded, request);
  const { contents } = fromRaw(answer) as { contents?: readonly Contents[] };
  const list = Array.isArray(contents) ? (contents as readonly Contents[]) : [];
  if (!byLines) return toRaw({ content: list.map((one) => blockOf(one, uri)) });
  return textResult(selectLines(textLines(list.map(({ text }) => text ?? "").join("\n")), query));
}

/** Returns a stored result without paging. */
export function wholeStored({ results }: ScopeFacts, uri: string, { origin }: ClientRequest): Raw {
  const found = results.whole(callerOf(origin), uri);
  if ("missing" in found) throw missing(found);
  return found.result;
}

function storedLines(scope: ScopeFacts, uri: string, query: LineQuery, request: ClientRequest): Raw {
  return textResult(selectLines(linesOf(wholeStored(scope, uri, request)), query));
}

/**
 * Returns one page as text. The URI of the next page is also in the text, because clients may hide `_meta`
 * and links from the model.
 */
function page({ results }: ScopeFacts, uri: string, { origin }: ClientRequest): Raw {
  const found = results.read(callerOf(origin), uri, { plain: true });
  if ("missing" in found) throw missing(found);
  const { text, mimeType, nextUri } = found;
  const next = nextUri === undefined ? [] : [`Next page: ${nextUri}`];
  const content =
    mimeType === undefined
      ? [{ type: "text", text: [text, ...next].join("\n\n") }]
      : [binary(found, mimeType), ...next.map((line) => ({ type: "text", text: line }))];
  return toRaw({ content, ...(nextUri !== undefined && { _meta: { [NEXT]: nextUri } }) });
}

/** A part of an image is not a valid image block, so it is returned as a binary resource. */
function binary({ text, wholeBinary, uri }: StoredPage, mimeType: string): object {
  return wholeBinary
    ? blockOf({ uri, mimeType, blob: text }, uri)
    : { type: "resource", resource: { uri, mimeType, blob: text } };
}

function blockOf({ uri, mimeType, text, blob = "" }: Contents, asked: string): object {
  if (typeof text === "string") return { type: "text", text };
  const [kind] = mimeType?.split("/") ?? [];
  if (kind === "image" || kind === "audio") return { type: kind, data: blob, mimeType };
  return { type: "resource", resource: { uri: uri ?? asked, mimeType, blob } };
}

function textResult(text: string): Raw {
  return toRaw({ content: [{ type: "text", text }] });
}

function missing(found: Missing): MetaMcpError {
  return new MetaMcpError("execution_failed", found.missing, {
    server: BUILTIN_SERVER,
    tool_id: `${BUILTIN_SERVER}:${READ.name}`,
    details: { expired: true, tool_id: found.source },
  });
}
