/**
 * Serves only `/metrics`, without login, on a separate port, so that a firewall can restrict access to it.
 */
import { createServer, type Server } from "node:http";
import { isIP } from "node:net";
import { METRICS_TYPE } from "../../observe/metrics/metrics.ts";
import type { HostGuard } from "../../transport/http/guard.ts";

export interface MetricsAddress {
  readonly host: string;
  readonly port: number;
}

export class MetricsPort {
  readonly #address: MetricsAddress;
  readonly #server: Server;

  constructor(address: MetricsAddress, hostGuard: HostGuard, text: () => string) {
    this.#address = address;
    this.#server = createServer((request, response) => {
      const [path] = (request.url ?? "").split("?");
      if (!hostGuard(request).ok && isPublicName(request.headers.host)) response.writeHead(403).end();
      else if (path !== "/metrics" || request.method !== "GET") response.writeHead(404).end();
      else response.writeHead(200, { "content-type": METRICS_TYPE }).end(text());
    });
  }

  async listen(): Promise<void> {
    const { host, port } = this.#address;
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", (error) =>
        reject(new Error(`cannot listen on the metrics port ${port}: ${error.message}`)),
      );
      this.#server.listen(port, host, resolve);
    });
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }
}

/**
 * A web page reads other hosts only by DNS rebinding, for which it needs a name in the public DNS: not an
 * address, and not a single word, as services in containers have.
 */
function isPublicName(host = ""): boolean {
  const name = host.replace(/:\d*$/, "").replace(/^\[(.*)\]$/, "$1");
  return name.includes(".") && isIP(name) === 0;
}
