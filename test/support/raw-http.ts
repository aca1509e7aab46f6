/** HTTP over a plain socket, for requests that no client library would send. */
import { connect, type Socket } from "node:net";

export interface RawAnswer {
  /** Status of each response on the socket, in order. */
  readonly statuses: number[];
  readonly text: string;
}

export interface RawOptions {
  /** Half-closes the socket after sending. */
  readonly end?: boolean;
  /** Resolves after the start of this many responses. Default: when the server closes the socket. */
  readonly responses?: number;
  /** Timeout; then the result has what arrived so far. */
  readonly patienceMs?: number;
}

/** Sends the bytes and collects the responses. Never rejects, because a reset is a valid outcome too. */
export function rawHttp(url: string, bytes: string | Buffer, options: RawOptions = {}): Promise<RawAnswer> {
  const { end = false, responses = Number.POSITIVE_INFINITY, patienceMs = 2_000 } = options;
  return new Promise((resolve) => {
    const socket = open(url);
    const statuses: number[] = [];
    const status = /^HTTP\/1\.1 (\d{3}) /gm;
    let text = "";
    const finish = (): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve({ text, statuses });
    };
    const timer = setTimeout(finish, patienceMs);
    socket.on("data", (part) => {
      let seen = status.lastIndex;
      text += part.toString("latin1");
      for (let match = status.exec(text); match; match = status.exec(text)) {
        statuses.push(Number(match[1]));
        seen = status.lastIndex;
      }
      // The last line may be an incomplete status line.
      status.lastIndex = Math.max(seen, text.lastIndexOf("\n"));
      if (statuses.length >= responses) finish();
    });
    socket.once("close", finish);
    socket.write(bytes);
    if (end) socket.end();
  });
}

/**
 * Sends many requests on one socket with pipelining and returns their statuses. `ahead` limits the unanswered
 * requests.
 */
export function pipelined(url: string, requests: readonly string[], ahead = 16): Promise<number[]> {
  return new Promise((resolve, reject) => {
    const statuses: number[] = [];
    const socket = open(url);
    let sent = 0;
    let rest = "";
    const send = (): void => {
      const upTo = Math.min(requests.length, statuses.length + ahead);
      if (upTo > sent) socket.write(requests.slice(sent, upTo).join(""));
      sent = upTo;
    };
    socket.setEncoding("latin1");
    socket.on("data", (part: string) => {
      const lines = (rest + part).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) if (line.startsWith("HTTP/1.1 ")) statuses.push(Number(line.slice(9, 12)));
      if (statuses.length === requests.length) socket.destroy();
      else send();
    });
    socket.once("close", () => {
      if (statuses.length === requests.length) resolve(statuses);
      else reject(new Error(`closed after ${statuses.length} of ${requests.length} answers`));
    });
    send();
  });
}

/** A socket to the host of the URL. Ignores errors. */
export function open(url: string): Socket {
  const { hostname, port } = new URL(url);
  return connect(Number(port), hostname).on("error", () => {});
}

export interface RequestParts {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** The text of a request to the host of the URL. Default: a well-formed POST with a JSON body. */
export function requestText(
  url: string,
  { method = "POST", path = "/mcp", headers = {}, body = "" }: RequestParts,
): string {
  const all = {
    host: new URL(url).host,
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "content-length": String(Buffer.byteLength(body)),
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n${body}`;
}
