/**
 * The address a browser comes back to after a login: a listener on this machine alone, for one answer. What does not
 * carry our state is turned away and changes nothing.
 */
import { timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Clock } from "../kernel/clock.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import type { LoginAnswer } from "./code-flow.ts";

const HOST = "127.0.0.1";
const PATH = "/callback";

export interface Arrival extends LoginAnswer {
  /** What the person sees in the browser; resolves when it is out. */
  reply(title: string, text: string): Promise<void>;
}

export class Callback {
  readonly address: string;
  readonly #server: Server;
  #state: string | undefined;
  #arrived: ((arrival: Arrival) => void) | undefined;

  private constructor(server: Server) {
    this.#server = server;
    this.address = `http://${HOST}:${(server.address() as AddressInfo).port}${PATH}`;
    server.on("request", (request: IncomingMessage, response: ServerResponse) =>
      this.#take(request, response),
    );
  }

  /** Port 0 is any free one. */
  static async listen(port: number): Promise<Callback> {
    const server = createServer();
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(port, HOST, resolve);
    });
    return new Callback(server);
  }

  /** The first answer to what was asked under this state. */
  arrival(state: string, clock: Clock, limitMs: number): Promise<Arrival> {
    this.#state = state;
    return new Promise((resolve, reject) => {
      const minutes = Math.round(limitMs / 60_000);
      const late = new MetaMcpError("auth_required", `nobody completed the login within ${minutes} minutes`);
      const timer = clock.after(limitMs, () => reject(late));
      this.#arrived = (arrival) => {
        timer.cancel();
        resolve(arrival);
      };
    });
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((closed) => this.#server.close(closed));
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    const asked = request.url ?? "";
    // Any page in the browser can have this asked, with anything as its address.
    const url = URL.canParse(asked, this.address) ? new URL(asked, this.address) : undefined;
    if (url?.pathname !== PATH || request.method !== "GET") {
      void page(response, 404, "Not found", "There is no such page.");
      return;
    }
    const { searchParams: query } = url;
    const arrived = this.#arrived;
    if (!arrived || !same(query.get("state"), this.#state)) {
      const text = "This does not belong to the login that MetaMCP waits for.";
      void page(response, 400, "Unexpected answer", text);
      return;
    }
    this.#arrived = undefined;
    arrived({
      code: query.get("code") ?? undefined,
      error: query.get("error") ?? undefined,
      iss: query.get("iss") ?? undefined,
      reply: (title, text) => page(response, 200, title, text),
    });
  }
}

function same(given: string | null, expected: string | undefined): boolean {
  const [a, b] = [Buffer.from(given ?? ""), Buffer.from(expected ?? "")];
  return expected !== undefined && a.length === b.length && timingSafeEqual(a, b);
}

/** `title` and `text` are our own words: nothing of a request gets in here. */
async function page(response: ServerResponse, status: number, title: string, text: string): Promise<void> {
  // Whoever has closed the window needs no page.
  if (response.closed) return;
  response.writeHead(status, {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": "default-src 'none'",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    connection: "close",
  });
  const html = `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title><h1>${title}</h1><p>${text}</p></html>\n`;
  await new Promise<void>((done) => {
    response.once("close", done);
    response.end(html);
  });
}
