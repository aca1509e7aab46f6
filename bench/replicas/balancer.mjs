// A load balancer as they are: each request goes to the next replica, whoever sent it. A replica that refuses
// connections, or whose /readyz does not answer 200, gets none. A request that was sent is never repeated.
import { Agent, createServer, request as httpRequest } from "node:http";

const CHECK_MS = 500;

export class Balancer {
  /** The addresses of the replicas by name; undefined while one is being started. */
  #targets = new Map();
  #unready = new Set();
  #turn = 0;
  #agent = new Agent({ keepAlive: true, maxFreeSockets: 256 });
  #server = createServer((request, response) => this.#take(request, response));
  #timer;
  /** Requests that got 502 because the replica broke the connection, and 503 because none was ready. */
  broken = 0;
  refused = 0;

  /** `checked`: asks /readyz twice a second. */
  async listen({ checked = false } = {}) {
    await new Promise((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    this.#server.keepAliveTimeout = 60_000;
    this.url = `http://127.0.0.1:${this.#server.address().port}`;
    if (checked) this.#timer = setInterval(() => void this.#check(), CHECK_MS);
    return this;
  }

  set(name, url) {
    if (url === undefined) this.#targets.delete(name);
    else this.#targets.set(name, new URL(url));
  }

  close() {
    clearInterval(this.#timer);
    this.#server.close();
    this.#server.closeAllConnections();
    this.#agent.destroy();
  }

  async #check() {
    for (const [name, { origin }] of this.#targets) {
      const ready = await fetch(`${origin}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      );
      if (ready) this.#unready.delete(name);
      else this.#unready.add(name);
    }
  }

  #take(request, response) {
    const parts = [];
    request.on("data", (part) => parts.push(part));
    request.on("end", () => {
      const all = [...this.#targets].filter(([name]) => !this.#unready.has(name)).map(([, url]) => url);
      const first = this.#turn++ % Math.max(1, all.length);
      this.#send({ request, response, body: Buffer.concat(parts) }, [
        ...all.slice(first),
        ...all.slice(0, first),
      ]);
    });
  }

  #send(asked, [target, ...others]) {
    const { request, response, body } = asked;
    if (response.destroyed) return;
    if (!target) {
      this.refused++;
      response.writeHead(503, { "retry-after": "1" }).end();
      return;
    }
    const { hostname, port } = target;
    const outgoing = httpRequest({
      hostname,
      port,
      agent: this.#agent,
      method: request.method,
      path: request.url,
      headers: request.headers,
    });
    const leave = () => outgoing.destroy();
    response.once("close", leave);
    outgoing.once("response", (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      response.flushHeaders();
      answer.pipe(response);
      answer.once("error", () => response.destroy());
    });
    outgoing.once("error", (error) => {
      response.off("close", leave);
      if (response.destroyed || response.headersSent) return response.destroy();
      if (error.code === "ECONNREFUSED") return this.#send(asked, others);
      this.broken++;
      response.writeHead(502).end();
    });
    outgoing.end(body);
  }
}
