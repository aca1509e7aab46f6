// The HTTP client for measurements: keep-alive sockets with one request at a time on each. Parses answers
// only as far as needed.
import { connect } from "node:net";

const ACCEPT = "application/json, text/event-stream";
const HEAD_END = Buffer.from("\r\n\r\n");
const LAST_CHUNK = Buffer.from("\r\n0\r\n\r\n");
const FIRST_ID = 1_000_000_000;
let ids = FIRST_ID;

/** Sends one message. Resolves with the parsed answer, its size and the session id. */
export async function ask(url, message, headers = {}) {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", accept: ACCEPT, ...headers },
    body: JSON.stringify({ jsonrpc: "2.0", ...message }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`HTTP ${response.status}: ${text.slice(0, 200)}`);
  const data = text.startsWith("{") ? text : /^data: ?(\{.*)$/m.exec(text)?.[1];
  return {
    answer: data && JSON.parse(data),
    session: response.headers.get("mcp-session-id"),
    bytes: text.length,
  };
}

const HELLO = {
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "bench", version: "1" } },
};

/**
 * Opens a session and returns the headers for its requests. Without a session id they are the headers in
 * `key`.
 */
export async function openSession(url, key = {}) {
  const { session } = await ask(url, HELLO, key);
  const headers = session ? { ...key, "mcp-session-id": session, "mcp-protocol-version": "2025-06-18" } : key;
  await ask(url, { method: "notifications/initialized" }, headers);
  return headers;
}

/** The bytes of a request and the position of its id. Ids have ten digits, so only they change. */
function template(url, { method = "tools/call", params, headers = {} }) {
  const { host, pathname } = new URL(url);
  const body = `{"jsonrpc":"2.0","id":${FIRST_ID},"method":"${method}","params":${JSON.stringify(params)}}`;
  const lines = Object.entries({
    host,
    "content-type": "application/json",
    accept: ACCEPT,
    "content-length": Buffer.byteLength(body),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  const bytes = Buffer.from(`POST ${pathname} HTTP/1.1\r\n${lines.join("")}\r\n${body}`);
  return { bytes, idAt: bytes.indexOf(String(FIRST_ID)) };
}

/** One socket with its own requests. `onAnswer(socket)` may send the next one. */
class LoadSocket {
  #socket;
  #templates;
  #turn = 0;
  #request;
  #rest;
  #left = -1;
  #size = 0;
  #busy = false;
  closed = false;
  constructor(url, templates, onAnswer, onError) {
    const { hostname, port } = new URL(url);
    this.#templates = templates;
    this.#socket = connect(Number(port), hostname);
    this.#socket.setNoDelay(true);
    this.#socket.on("error", onError);
    this.#socket.on("close", () => {
      // Servers close idle sockets. It is an error only during a call.
      this.closed = true;
      if (this.#busy) onError(new Error("a socket was closed"));
    });
    this.#socket.on("data", (chunk) => {
      try {
        if (!this.#read(chunk)) return;
        this.#check();
        onAnswer(this);
      } catch (error) {
        onError(error);
      }
    });
  }
  send() {
    this.#request = this.#templates[this.#turn++ % this.#templates.length];
    const { bytes, idAt } = this.#request;
    bytes.latin1Write(String(++ids), idAt);
    this.#size = 0;
    this.#busy = true;
    this.#socket.write(Buffer.from(bytes));
  }
  /** The same request has answers of the same size. Another size is an error. */
  #check() {
    const { expected = this.#size } = this.#request;
    this.#request.expected = expected;
    if (Math.abs(this.#size - expected) > 256)
      throw new Error(`answers of ${expected} and of ${this.#size} bytes`);
  }
  /** True if the answer is complete. */
  #read(chunk) {
    if (this.#left < 0) {
      const bytes = this.#rest ? Buffer.concat([this.#rest, chunk]) : chunk;
      const end = bytes.indexOf(HEAD_END);
      if (end < 0) {
        this.#rest = bytes;
        return false;
      }
      this.#rest = undefined;
      const head = bytes.latin1Slice(0, end).toLowerCase();
      if (!head.startsWith("http/1.1 200")) throw new Error(head.split("\r\n", 1)[0]);
      const length = /content-length: (\d+)/.exec(head)?.[1];
      this.#left = length === undefined ? Number.POSITIVE_INFINITY : Number(length);
      return this.#body(bytes.subarray(end + 4));
    }
    return this.#body(chunk);
  }
  #body(chunk) {
    this.#size += chunk.length;
    if (this.#left === Number.POSITIVE_INFINITY) {
      const tail = this.#rest ? Buffer.concat([this.#rest, chunk]) : chunk;
      this.#rest = Buffer.from(tail.subarray(-LAST_CHUNK.length));
      if (!this.#rest.equals(LAST_CHUNK)) return false;
      this.#rest = undefined;
    } else {
      this.#left -= chunk.length;
      if (this.#left > 0) return false;
    }
    this.#left = -1;
    this.#busy = false;
    return true;
  }
  close() {
    this.#busy = false;
    this.#socket.destroy();
  }
}

/** Sends requests to one server, with one socket per request in flight. */
export class Load {
  #url;
  #templates;
  #sockets = [];
  #onAnswer = () => {};
  #fail = () => {};
  /** `requests`: `{ method?, params, headers? }`, sent in turn. */
  constructor(url, requests) {
    this.#url = url;
    this.#templates = requests.map((one) => template(url, one));
  }
  /** Resolves with the elapsed milliseconds after `total` answers. */
  async calls(total, inFlight) {
    this.#sockets = this.#sockets.filter(({ closed }) => !closed);
    while (this.#sockets.length < inFlight)
      this.#sockets.push(
        new LoadSocket(
          this.#url,
          this.#copyTemplates(),
          (socket) => this.#onAnswer(socket),
          (error) => this.#fail(error),
        ),
      );
    const since = performance.now();
    await new Promise((resolve, reject) => {
      let sent = 0;
      let done = 0;
      this.#fail = reject;
      this.#onAnswer = (socket) => {
        if (++done === total) resolve();
        else if (sent < total) {
          sent++;
          socket.send();
        }
      };
      for (const socket of this.#sockets.slice(0, Math.min(inFlight, total))) {
        sent++;
        socket.send();
      }
    });
    return performance.now() - since;
  }
  /** Each socket gets its own bytes, because it writes the id into them. */
  #copyTemplates() {
    return this.#templates.map(({ bytes, idAt }) => ({ bytes: Buffer.from(bytes), idAt }));
  }
  close() {
    for (const socket of this.#sockets) socket.close();
    this.#sockets = [];
  }
}
