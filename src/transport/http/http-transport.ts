/** A transport that serves one endpoint over HTTP on an HTTP server of its own. */
import type { Host, Transport } from "../transport.ts";
import { createGuard, type GuardOptions } from "./guard.ts";
import { HttpServer, type HttpServerOptions, type Received } from "./http-server.ts";

export interface HttpTransportOptions extends HttpServerOptions, GuardOptions {
  /** Called with the whole URL once the server accepts connections. */
  onListening(url: string): void;
}

interface HttpEndpoint {
  /** Returns false if nothing is served at that path. */
  route(path: string, received: Received): boolean;
  end(): void;
}

interface HttpTransportKind {
  readonly name: string;
  /** The path in the URL that is shown to the user. */
  readonly path: string;
  serve(host: Host): HttpEndpoint;
}

export function createHttpTransport(options: HttpTransportOptions, kind: HttpTransportKind): Transport {
  const { name, path } = kind;
  let stop: () => Promise<void> = () => Promise.resolve();
  let close: () => Promise<void> = () => Promise.resolve();
  let reload = (): void => {};
  return {
    name,
    info: `${options.host}:${options.port}${path}`,
    async serve(host) {
      const guard = createGuard(options);
      const endpoint = kind.serve(host);
      const server = new HttpServer(options, {
        guard: (_path, request) => guard(request),
        readiness: () => host.health(),
        route: (...received) => endpoint.route(...received),
      });
      stop = () => server.stop();
      reload = () => server.reload();
      close = async () => {
        endpoint.end();
        await server.closeAll();
      };
      options.onListening(`${await server.listen()}${path}`);
      await server.over();
    },
    reload: () => reload(),
    stop: () => stop(),
    close: () => close(),
  };
}
