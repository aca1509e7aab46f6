/** An HTTP API on loopback that answers as a test says, and its OpenAPI document. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { checkServer } from "../../src/config/server.ts";
import type { OpenApiSpec } from "../../src/config/spec.ts";
import { atEnd } from "./shared.ts";

export interface ApiRequestSeen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

export interface ApiServer {
  readonly url: string;
  readonly seen: readonly ApiRequestSeen[];
  sockets(): Promise<number>;
  stop(): Promise<void>;
}

export type Answer = (seen: ApiRequestSeen, response: ServerResponse) => void;

/** `document` is served at `/openapi.json`; a text as it is. Requests for it are not in `seen`. */
export async function apiServer(
  document: unknown,
  answer: Answer = (_, response) => void response.end("{}"),
) {
  const seen: ApiRequestSeen[] = [];
  const server: Server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const { method = "", url = "", headers } = request;
      const one = { method, url, headers, body: Buffer.concat(parts) };
      if (url === "/openapi.json" && method === "GET") {
        const made: unknown = typeof document === "function" ? document(one, response) : document;
        if (!response.headersSent && made !== undefined)
          response
            .setHeader("content-type", "application/json")
            .end(typeof made === "string" ? made : JSON.stringify(made));
        return;
      }
      seen.push(one);
      answer(one, response);
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  const stop = async (): Promise<void> => {
    server.closeAllConnections();
    if (server.listening) await new Promise<void>((done) => server.close(() => done()));
  };
  atEnd(stop);
  const sockets = (): Promise<number> =>
    new Promise((done) => server.getConnections((_, count) => done(count ?? 0)));
  return { url: `http://127.0.0.1:${port}`, seen, sockets, stop } satisfies ApiServer;
}

export function apiSpec(openapi: string, more: Readonly<Record<string, unknown>> = {}): OpenApiSpec {
  const { result } = checkServer("api", { openapi, ...more }, { path: "/mcp.json", folder: "/", env: {} });
  if (result === "disabled" || !("spec" in result) || result.spec.kind !== "openapi")
    throw new Error(JSON.stringify(result));
  return result.spec;
}
