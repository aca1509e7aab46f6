/** A transport that serves one endpoint over HTTP: it listens by itself and has the paths to itself. */
import type { Host, Transport } from "../transport.ts";
import { Front, type FrontOptions, type Received } from "./front.ts";
import { createGuard, type GuardOptions } from "./guard.ts";

export interface HttpTransportOptions extends FrontOptions, GuardOptions {
  /** Told the whole URL once it listens. */
  onListening(url: string): void;
}

interface Served {
  /** False: there is nothing at that path. */
  route(path: string, received: Received): boolean;
  end(): void;
}

interface Kind {
  readonly name: string;
  /** What people are told to connect to. */
  readonly path: string;
  serve(host: Host): Served;
}

export function createHttpTransport(options: HttpTransportOptions, kind: Kind): Transport {
  const { name, path } = kind;
  let stop: () => Promise<void> = () => Promise.resolve();
  let close: () => Promise<void> = () => Promise.resolve();
  return {
    name,
    info: `${options.host}:${options.port}${path}`,
    async serve(host) {
      const guard = createGuard(options);
      const served = kind.serve(host);
      const front = new Front(options, {
        guard: (_path, { headers }) => guard(headers),
        readiness: () => host.health(),
        route: (...received) => served.route(...received),
      });
      stop = () => front.stop();
      close = async () => {
        served.end();
        await front.closeAll();
      };
      options.onListening(`${await front.listen()}${path}`);
      await front.over();
    },
    stop: () => stop(),
    close: () => close(),
  };
}
