/** The streamable HTTP transport as a stand-alone server: one endpoint at `/mcp`. */
import type { Transport } from "../transport.ts";
import { createHttpTransport, type HttpTransportOptions } from "./http-transport.ts";
import { StreamableEndpoint, type StreamableSettings } from "./streamable-endpoint.ts";

const PATH = "/mcp";

export function createStreamableTransport(options: HttpTransportOptions & StreamableSettings): Transport {
  return createHttpTransport(options, {
    name: "streamable",
    path: PATH,
    serve(host) {
      const endpoint = new StreamableEndpoint(options, host);
      return {
        route(path, received) {
          if (path === PATH) endpoint.handle(received);
          return path === PATH;
        },
        end: () => endpoint.end(),
      };
    },
  });
}
