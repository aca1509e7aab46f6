/** One line in the log per finished HTTP request, with an id that the client also gets. */
import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { performance } from "node:perf_hooks";
import type { Log } from "../../kernel/log.ts";
import type { Verdict } from "./guard.ts";

export interface AccessLogOptions {
  /** The address of the client, behind trusted proxies too. */
  readonly addressOf: (request: IncomingMessage) => string;
}

/** An id of the client or of a proxy is used only if it cannot break a line or a header. */
const SAFE_ID = /^[\w.:+/=@-]{1,128}$/;

/** Returns the client's own id in the answer. */
export function echoRequestId(request: IncomingMessage, response: ServerResponse): string | undefined {
  const sent = request.headers["x-request-id"];
  if (typeof sent !== "string" || !SAFE_ID.test(sent)) return undefined;
  response.setHeader("x-request-id", sent);
  return sent;
}

/** Returns a function that takes the verdict, which may come later. The query is not logged: it may contain a key. */
export function logRequest(
  path: string,
  { request, response }: { readonly request: IncomingMessage; readonly response: ServerResponse },
  log: Log,
  { addressOf }: AccessLogOptions,
): (verdict: Verdict) => void {
  const { method, socket } = request;
  const id = echoRequestId(request, response) ?? randomUUID();
  response.setHeader("x-request-id", id);
  const began = performance.now();
  const sentBefore = socket.bytesWritten;
  // A closed connection has no address any more.
  const address = addressOf(request);
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
