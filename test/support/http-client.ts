/** A client over streamable HTTP that keeps all it hears, and on which stream. Knows no SDK and repairs nothing. */
import { type ClientRequest, request as httpRequest, type IncomingMessage } from "node:http";
import { HEADERS, type HttpGateway } from "./http-gateway.ts";

export interface Heard {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown>;
  readonly error?: { code: number; message: string; data?: unknown };
}

export interface Exchange {
  readonly status: number;
  /** Everything on this stream but the answer. */
  readonly before: readonly Heard[];
  readonly answer: Heard | undefined;
}

export interface Sending {
  /** The sender's hand on the request, e.g. to break it off. */
  readonly onRequest?: (request: ClientRequest) => void;
  /** Called with whatever comes before the answer. */
  readonly onHeard?: (heard: Heard) => void;
}

export class HttpClient {
  /** Answers requests of the server; undefined leaves them without one. */
  reply: ((request: Heard) => { result: unknown } | { error: unknown } | undefined) | undefined;
  /** Requests the server made, in order. */
  readonly asked: Heard[] = [];
  readonly session: Readonly<Record<string, string>>;
  readonly #url: string;

  private constructor(url: string, session: Record<string, string>) {
    this.#url = url;
    this.session = session;
  }

  static async open(gateway: HttpGateway, capabilities: object = {}): Promise<HttpClient> {
    return new HttpClient(gateway.url, await gateway.open(capabilities));
  }

  /** Resolves with all that came on the stream of this request; rejects if the stream breaks before its end. */
  request(id: number | string, method: string, params: object, sending: Sending = {}): Promise<Exchange> {
    return this.#post({ id, method, params }, sending);
  }

  tool(
    id: number | string,
    name: string,
    args: object,
    _meta?: object,
    sending?: Sending,
  ): Promise<Exchange> {
    return this.request(id, "tools/call", { name, arguments: args, _meta }, sending);
  }

  /** A child's tool through the meta surface. */
  mcpCall(
    id: number | string,
    [server, tool]: readonly [string, string],
    args: object = {},
    more: { _meta?: object; sending?: Sending } = {},
  ): Promise<Exchange> {
    return this.tool(id, "mcp_call", { server, tool, args }, more._meta, more.sending);
  }

  async notify(method: string, params?: object): Promise<void> {
    await this.#post({ method, params });
  }

  #post(message: object, { onRequest, onHeard }: Sending = {}): Promise<Exchange> {
    return new Promise((resolve, reject) => {
      const headers = { ...HEADERS, ...this.session };
      const request = httpRequest(this.#url, { method: "POST", headers }, (response) => {
        this.#listen(response, onHeard).then(resolve, reject);
      });
      request.once("error", reject);
      request.end(JSON.stringify({ jsonrpc: "2.0", ...message }));
      onRequest?.(request);
    });
  }

  async #listen(response: IncomingMessage, onHeard?: (heard: Heard) => void): Promise<Exchange> {
    const before: Heard[] = [];
    let answer: Heard | undefined;
    const hear = (text: string): void => {
      if (!text.trim()) return;
      const heard = JSON.parse(text) as Heard;
      if (heard.method === undefined) answer = heard;
      else before.push(heard);
      if (heard.method !== undefined && heard.id !== undefined) this.#answer(heard);
      if (heard.method !== undefined) onHeard?.(heard);
    };
    const streamed = response.headers["content-type"]?.includes("event-stream");
    let rest = "";
    response.setEncoding("utf8");
    for await (const chunk of response) {
      rest += chunk;
      if (!streamed || !chunk.includes("\n")) continue;
      const lines = rest.split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) if (line.startsWith("data:")) hear(line.slice(5));
    }
    if (!streamed) hear(rest);
    return { status: response.statusCode ?? 0, before, answer };
  }

  #answer(request: Heard): void {
    this.asked.push(request);
    const reply = this.reply?.(request);
    if (reply) void this.#post({ id: request.id, ...reply }).catch(() => {});
  }
}
