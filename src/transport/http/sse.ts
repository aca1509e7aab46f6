/** The deprecated HTTP+SSE transport as a stand-alone server: one endpoint at `/sse` and `/messages`. */
import type { Transport } from "../transport.ts";
import { createHttpTransport, type HttpTransportOptions } from "./http-transport.ts";
import { SseEndpoint, type SseSettings } from "./sse-endpoint.ts";

const STREAM = "/sse";
const MESSAGES = "/messages";

export function createSseTransport(
  options: HttpTransportOptions & Omit<SseSettings, "messagePath">,
): Transport {
  return createHttpTransport(options, {
    name: "sse",
    path: STREAM,
    serve(host) {
      const endpoint = new SseEndpoint(host, { ...options, messagePath: MESSAGES });
      return {
        route(path, received) {
          const { method } = received.request;
          if (path === STREAM && method === "GET") endpoint.listen(received);
          else if (path === MESSAGES && method === "POST") endpoint.take(received);
          else return false;
          return true;
        },
        end: () => endpoint.end(),
      };
    },
  });
}
