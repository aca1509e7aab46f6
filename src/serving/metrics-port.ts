/** Serves only `/metrics`, without login, on a separate port, so that a firewall can restrict access to it. */
import { createServer, type Server } from "node:http";
import { METRICS_TYPE } from "../observe/metrics/metrics.ts";

export interface MetricsAddress {
  readonly host: string;
  readonly port: number;
}

export class MetricsPort {
  readonly #address: MetricsAddress;
  readonly #server: Server;

  constructor(address: MetricsAddress, text: () => string) {
    this.#address = address;
    this.#server = createServer((request, response) => {
      const [path] = (request.url ?? "").split("?");
      if (path !== "/metrics" || request.method !== "GET") response.writeHead(404).end();
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
