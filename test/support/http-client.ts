/** A client over streamable HTTP without an SDK. Records all messages of each stream and corrects nothing. */
import { type ClientRequest, request as httpRequest, type IncomingMessage } from "node:http";
import { HEADERS, type HttpGateway } from "./http-gateway.ts";

export interface ReceivedMessage {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown>;
  readonly error?: { code: number; message: string; data?: unknown };
}

export interface StreamContent {
  readonly status: number;
  /** All messages on this stream except the answer. */
  readonly before: readonly ReceivedMessage[];
  readonly answer: ReceivedMessage | undefined;
}

export interface SendOptions {
  /** Gets the HTTP request, e.g. to abort it. */
  readonly onRequest?: (request: ClientRequest) => void;
  /** Called for each message before the answer. */
  readonly onMessage?: (message: ReceivedMessage) => void;
}

export class HttpClient {
  /** Answers requests of the server. Undefined: no answer is sent. */
  reply: ((request: ReceivedMessage) => { result: unknown } | { error: unknown } | undefined) | undefined;
  /** Requests of the server, in order. */
  readonly serverRequests: ReceivedMessage[] = [];
  readonly session: Readonly<Record<string, string>>;
  readonly #url: string;

  private constructor(url: string, session: Record<string, string>) {
    this.#url = url;
    this.session = session;
  }

  static async open(gateway: HttpGateway, capabilities: object = {}): Promise<HttpClient> {
    return new HttpClient(gateway.url, await gateway.open(capabilities));
  }

  /** Resolves with all messages on the stream of this request. Rejects if the stream breaks. */
  request(
    id: number | string,
    method: string,
    params: object,
    sending: SendOptions = {},
  ): Promise<StreamContent> {
    return this.#post({ id, method, params }, sending);
  }

  tool(
    id: number | string,
    name: string,
    args: object,
    _meta?: object,
    sending?: SendOptions,
  ): Promise<StreamContent> {
    return this.request(id, "tools/call", { name, arguments: args, _meta }, sending);
  }

  /** Calls a child's tool through the meta surface. */
  mcpCall(
    id: number | string,
    [server, tool]: readonly [string, string],
    args: object = {},
    more: { _meta?: object; sending?: SendOptions } = {},
  ): Promise<StreamContent> {
    return this.tool(id, "mcp_call", { server, tool, args }, more._meta, more.sending);
  }

  async notify(method: string, params?: object): Promise<void> {
    await this.#post({ method, params });
  }

  #post(body: object, { onRequest, onMessage }: SendOptions = {}): Promise<StreamContent> {
    return new Promise((resolve, reject) => {
      const headers = { ...HEADERS, ...this.session };
      const request = httpRequest(this.#url, { method: "POST", headers }, (response) => {
        this.#listen(response, onMessage).then(resolve, reject);
      });
      request.once("error", reject);
      request.end(JSON.stringify({ jsonrpc: "2.0", ...body }));
      onRequest?.(request);
    });
  }

  async #listen(
    response: IncomingMessage,
    onMessage?: (message: ReceivedMessage) => void,
  ): Promise<StreamContent> {
    const before: ReceivedMessage[] = [];
    let answer: ReceivedMessage | undefined;
    const receive = (text: string): void => {
      if (!text.trim()) return;
      const message = JSON.parse(text) as ReceivedMessage;
      if (message.method === undefined) answer = message;
      else before.push(message);
      if (message.method !== undefined && message.id !== undefined) this.#answer(message);
      if (message.method !== undefined) onMessage?.(message);
    };
    const streamed = response.headers["content-type"]?.includes("event-stream");
    let rest = "";
    response.setEncoding("utf8");
    for await (const chunk of response) {
      rest += chunk;
      if (!streamed || !chunk.includes("\n")) continue;
      const lines = rest.split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) if (line.startsWith("data:")) receive(line.slice(5));
    }
    if (!streamed) receive(rest);
    return { status: response.statusCode ?? 0, before, answer };
  }

  #answer(request: ReceivedMessage): void {
    this.serverRequests.push(request);
    const reply = this.reply?.(request);
    if (reply) void this.#post({ id: request.id, ...reply }).catch(() => {});
  }
}
