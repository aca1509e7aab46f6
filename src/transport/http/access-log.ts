/** One line in the log per finished HTTP request, with an id that the client also gets. */
import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { performance } from "node:perf_hooks";
import type { Log } from "../../kernel/log.ts";
import { forwardedOf } from "./forwarded.ts";
import type { Verdict } from "./guard.ts";

export interface AccessLogOptions {
  /** The address of the client, behind trusted proxies too. */
  readonly addressOf: (request: IncomingMessage) => string;
}

/** An id of the client or of a proxy is used only if it cannot break a line or a header. */
const SAFE_ID = /^[\w.:+/=@-]{1,128}$/;

/**
 * Returns the id of the request in the answer. Afterwards the header of the request is this id, or absent, so
 * that everybody can use it.
 */
export function echoRequestId(
  { headers }: IncomingMessage,
  response: ServerResponse,
  created?: string,
): string | undefined {
  const sent = headers["x-request-id"];
  const id = typeof sent === "string" && SAFE_ID.test(sent) ? sent : created;
  if (id === undefined) {
    if (sent !== undefined) delete headers["x-request-id"];
    return undefined;
  }
  headers["x-request-id"] = id;
  response.setHeader("x-request-id", id);
  return id;
}

/**
 * Returns a function that takes the verdict, which may come later. The query is not logged: it may contain a
 * key.
 */
export function logRequest(
  path: string,
  { request, response }: { readonly request: IncomingMessage; readonly response: ServerResponse },
  log: Log,
  { addressOf }: AccessLogOptions,
): (verdict: Verdict) => void {
  const { method, socket } = request;
  const id = echoRequestId(request, response, randomUUID());
  const began = performance.now();
  const sentBefore = socket.bytesWritten;
  // A closed connection has no address any more.
  const address = forwardedOf(request)?.address ?? addressOf(request);
  let who: Verdict | undefined;
  response.once("close", () => {
    // 499 as in the logs of nginx: the client went away before the answer began.
    const status = response.headersSent ? response.statusCode : 499;
    log.info(`${method} ${path} ${status}`, {
      request: id,
      method,
      path,
      status,
      ms: Math.round(performance.now() - began),
      bytes: Math.max(0, socket.bytesWritten - sentBefore),
      address,
      ...(who?.ok && { principal: { kind: who.principal.kind, name: who.principal.name } }),
    });
  });
  return (verdict) => {
    who = verdict;
  };
}
