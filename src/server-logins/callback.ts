/**
 * The redirect address of a login: an HTTP listener on 127.0.0.1 that accepts one answer. Requests without
 * the right `state` are refused and have no effect.
 */
import { timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Clock } from "../kernel/clock.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import type { LoginAnswer } from "./code-flow.ts";

const HOST = "127.0.0.1";
const PATH = "/callback";

export interface CallbackAnswer extends LoginAnswer {
  /** Shows a page in the user's browser; resolves when it is sent. */
  reply(title: string, text: string): Promise<void>;
}

export class Callback {
  readonly address: string;
  readonly #server: Server;
  #state: string | undefined;
  #onAnswer: ((answer: CallbackAnswer) => void) | undefined;

  private constructor(server: Server) {
    this.#server = server;
    this.address = `http://${HOST}:${(server.address() as AddressInfo).port}${PATH}`;
    server.on("request", (request: IncomingMessage, response: ServerResponse) =>
      this.#handle(request, response),
    );
  }

  /** Port 0 selects a free port. */
  static async listen(port: number): Promise<Callback> {
    const server = createServer();
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(port, HOST, resolve);
    });
    return new Callback(server);
  }

  /** Resolves with the first answer that has this state. Rejects after `limitMs`. */
  waitForAnswer(state: string, clock: Clock, limitMs: number): Promise<CallbackAnswer> {
    this.#state = state;
    return new Promise((resolve, reject) => {
      const minutes = Math.round(limitMs / 60_000);
      const late = new MetaMcpError("auth_required", `nobody completed the login within ${minutes} minutes`);
      const timer = clock.after(limitMs, () => reject(late));
      this.#onAnswer = (answer) => {
        timer.cancel();
        resolve(answer);
      };
    });
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((closed) => this.#server.close(closed));
  }

  #handle(request: IncomingMessage, response: ServerResponse): void {
    const path = request.url ?? "";
    // Any web page can make the browser send a request here, with any path.
    const url = URL.canParse(path, this.address) ? new URL(path, this.address) : undefined;
    if (url?.pathname !== PATH || request.method !== "GET") {
      void page(response, 404, "Not found", "There is no such page.");
      return;
    }
    const { searchParams: query } = url;
    const onAnswer = this.#onAnswer;
    if (!onAnswer || !same(query.get("state"), this.#state)) {
      const text = "This does not belong to the login that MetaMCP waits for.";
      void page(response, 400, "Unexpected answer", text);
      return;
    }
    this.#onAnswer = undefined;
    onAnswer({
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

/** `title` and `text` must be constant texts, because they are not escaped. */
async function page(response: ServerResponse, status: number, title: string, text: string): Promise<void> {
  // The user may have closed the window.
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
