/** `fetch` to a local port over TLS, whatever host the URL names. Checks the certificate as for that host. */
import type { IncomingHttpHeaders } from "node:http";
import { request as httpsRequest } from "node:https";
import { Readable } from "node:stream";

export interface ThroughOptions {
  readonly port: number;
  readonly ca: string;
  /** The address that the connection comes from. */
  readonly from?: string;
}

export function fetchThrough({ port, ca, from }: ThroughOptions): typeof fetch {
  return async (input, init) => {
    const asked = new Request(input, init);
    const { hostname, host, pathname, search } = new URL(asked.url);
    const body = Buffer.from(await asked.arrayBuffer());
    // `Request` drops the header, which a test may want to forge.
    const headers = { host, ...Object.fromEntries(asked.headers), ...forgedHost(init?.headers) };
    return await new Promise<Response>((resolve, reject) => {
      const options = {
        host: "127.0.0.1",
        port,
        ca,
        servername: hostname,
        path: pathname + search,
        method: asked.method,
        headers: body.length > 0 ? { ...headers, "content-length": body.length } : headers,
        agent: false,
        signal: asked.signal,
        ...(from === undefined ? {} : { localAddress: from }),
      } as const;
      const sent = httpsRequest(options, (answer) => {
        const status = answer.statusCode ?? 0;
        const content = status === 204 || status === 304 ? null : (Readable.toWeb(answer) as ReadableStream);
        resolve(new Response(content, { status, headers: listOf(answer.headers) }));
      });
      sent.once("error", reject);
      sent.end(body);
    });
  };
}

function forgedHost(headers: unknown): { host?: string } {
  const host = (headers as { host?: string } | undefined)?.host;
  return host === undefined ? {} : { host };
}

function listOf(headers: IncomingHttpHeaders): [string, string][] {
  return Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((one): [string, string] => [name, one]),
  );
}
