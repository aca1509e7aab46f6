/**
 * The only way out of a server whose network is a list of hosts: an HTTP proxy on a Unix socket. It resolves
 * names itself and connects to the address that it checked, so that no later answer of DNS leads elsewhere.
 * It does not look into encrypted traffic.
 */
import { promises as dns, type LookupAddress } from "node:dns";
import { chmod, mkdir, mkdtemp, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import { connect, isIP, type Socket } from "node:net";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { NetworkHosts } from "../../../config/network-host.ts";

/** One connection that the server asked for. */
export interface Attempt {
  readonly host: string;
  readonly port: number;
  /** Why it was refused or failed. Undefined if it was made. */
  readonly refused: string | undefined;
}

export interface EgressOptions {
  /** METAMCP_HOME. No sandbox shows it, so no server reaches the proxy of another one. */
  readonly home: string;
  /** What is allowed at this moment. */
  readonly hosts: () => NetworkHosts;
  readonly onAttempt: (attempt: Attempt) => void;
  /** The sandbox runs as another user, who has to open the socket. */
  readonly forOtherUser: boolean;
  readonly resolve?: (name: string) => Promise<readonly LookupAddress[]>;
}

const MOST_CONNECTIONS = 256;
const MOST_ADDRESSES = 4;
const MOST_HEADER_BYTES = 16_384;
const HEADERS_MS = 10_000;
const CONNECT_MS = 10_000;
const AUTHORITY = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+):(\d{1,5})$/i;
/** Headers between a client and its proxy. */
const OF_HOP =
  /^(connection|proxy-.*|keep-alive|te|trailer|transfer-encoding|upgrade|host|http2-settings|content-length)$/;

class Refused extends Error {}

export class Egress {
  /** The path of the socket. */
  readonly socket: string;
  readonly #folder: string;
  readonly #server: Server;
  readonly #open = new Set<Duplex>();
  readonly #options: EgressOptions;

  private constructor(folder: string, options: EgressOptions) {
    this.#folder = folder;
    this.#options = options;
    this.socket = join(folder, "egress");
    this.#server = createServer({
      maxHeaderSize: MOST_HEADER_BYTES,
      headersTimeout: HEADERS_MS,
      requestTimeout: 0,
      keepAliveTimeout: 30_000,
    });
    this.#server.maxConnections = MOST_CONNECTIONS;
    this.#server.on("connection", (socket) => this.#keep(socket));
    this.#server.on("connect", (message, socket, head) => void this.#tunnel(message, socket, head));
    this.#server.on("request", (message, answer) => void this.#forward(message, answer));
  }

  static async open(options: EgressOptions): Promise<Egress> {
    const parent = join(options.home, "egress");
    await mkdir(parent, { recursive: true, mode: 0o711 });
    const folder = await mkdtemp(join(parent, "/"));
    const egress = new Egress(folder, options);
    await new Promise<void>((resolve, reject) => {
      egress.#server.once("error", reject).listen(egress.socket, resolve);
    });
    // Nobody else can guess the name of the folder.
    if (options.forOtherUser) await Promise.all([chmod(folder, 0o711), chmod(egress.socket, 0o666)]);
    return egress;
  }

  async close(): Promise<void> {
    this.#server.close();
    for (const one of this.#open) one.destroy();
    await rm(this.#folder, { recursive: true, force: true });
  }

  #keep(socket: Duplex): void {
    this.#open.add(socket);
    socket.on("error", () => {});
    socket.once("close", () => this.#open.delete(socket));
  }

  async #tunnel({ url = "" }: IncomingMessage, client: Duplex, head: Buffer): Promise<void> {
    const [, host, port] = AUTHORITY.exec(url) ?? [];
    if (host === undefined) return void client.end("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n");
    const far = await this.#dial(host, Number(port)).catch((error: Error) => error);
    if (far instanceof Error) return void client.end(refusal(far));
    if (client.destroyed) return void far.destroy();
    client.write("HTTP/1.1 200 Connection Established\r\n\r\n");
    far.write(head);
    await Promise.all([pipeline(client, far), pipeline(far, client)]).catch(() => {});
    far.destroy();
    client.destroy();
  }

  /** Plain HTTP. Redirects go back to the server, so that their targets are checked too. */
  async #forward(message: IncomingMessage, answer: ServerResponse): Promise<void> {
    const url = URL.canParse(message.url ?? "") ? new URL(message.url ?? "") : undefined;
    if (url?.protocol !== "http:" || url.username !== "" || message.url?.startsWith("/"))
      return void answer.writeHead(400, { connection: "close" }).end("This is a proxy.\n");
    const far = await this.#dial(url.hostname, Number(url.port || 80)).catch((error: Error) => error);
    if (far instanceof Error)
      return void answer.writeHead(statusOf(far), { connection: "close" }).end(`${far.message}\n`);
    const outgoing = request({
      method: message.method ?? "GET",
      path: `${url.pathname}${url.search}`,
      // The name that was checked, whatever the server wrote into its Host header.
      headers: [...passed(message), "Host", url.host, "Connection", "close", ...framing(message)],
      createConnection: () => far,
    });
    outgoing.once("response", (incoming) => {
      answer.writeHead(incoming.statusCode ?? 502, [...passed(incoming), ...framing(incoming)]);
      void pipeline(incoming, answer).catch(() => far.destroy());
    });
    outgoing.once("error", () => answer.destroy());
    answer.once("close", () => far.destroy());
    void pipeline(message, outgoing).catch(() => far.destroy());
  }

  async #dial(written: string, port: number): Promise<Socket> {
    const host = written
      .toLowerCase()
      .replaceAll(/^\[|\]$/g, "")
      .replace(/\.$/, "");
    const { onAttempt } = this.#options;
    try {
      const socket = await this.#connect(host, port);
      onAttempt({ host, port, refused: undefined });
      return socket;
    } catch (error) {
      onAttempt({ host, port, refused: (error as Error).message });
      throw error;
    }
  }

  async #connect(host: string, port: number): Promise<Socket> {
    const { hosts, resolve = lookup } = this.#options;
    const allowed = hosts();
    if (!allowed.allows(host, port))
      throw new Refused(`${host}:${port} is not in the "network" of this server's sandbox`);
    const found = isIP(host) === 0 ? await resolve(host) : [{ address: host, family: isIP(host) }];
    const reachable = found.filter(({ address }) => allowed.reaches(host, port, address));
    const [first] = found;
    if (reachable.length === 0 && first)
      throw new Refused(
        `${host} leads to ${first.address}, which is not public: list this address in "network" to allow it`,
      );
    for (const { address } of reachable.slice(0, MOST_ADDRESSES)) {
      const socket = await opened(address, port);
      if (!socket) continue;
      this.#keep(socket);
      return socket;
    }
    throw new Error(`${host}:${port} cannot be reached`);
  }
}

async function lookup(name: string): Promise<readonly LookupAddress[]> {
  return await dns.lookup(name, { all: true }).catch(() => {
    throw new Error(`${name} is not known to DNS`);
  });
}

async function opened(address: string, port: number): Promise<Socket | undefined> {
  return await new Promise((resolve) => {
    const socket = connect({ host: address, port, timeout: CONNECT_MS });
    const failed = (): void => {
      socket.destroy();
      resolve(undefined);
    };
    socket.once("error", failed);
    socket.once("timeout", failed);
    socket.once("connect", () => {
      socket.setTimeout(0);
      socket.removeAllListeners("timeout");
      resolve(socket);
    });
  });
}

function statusOf(error: Error): 403 | 502 {
  return error instanceof Refused ? 403 : 502;
}

function refusal(error: Error): string {
  const status = statusOf(error);
  const text = `${error.message}\n`;
  const head = `HTTP/1.1 ${status} ${status === 403 ? "Forbidden" : "Bad Gateway"}`;
  return `${head}\r\nContent-Type: text/plain\r\nContent-Length: ${Buffer.byteLength(text)}\r\nConnection: close\r\n\r\n${text}`;
}

/** Names and values, without those between the server and us. */
function passed({ rawHeaders, headers }: IncomingMessage): string[] {
  const named = String(headers.connection ?? "")
    .toLowerCase()
    .split(/\s*,\s*/);
  const kept: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] as string).toLowerCase();
    if (!OF_HOP.test(name) && !named.includes(name))
      kept.push(rawHeaders[at] as string, rawHeaders[at + 1] as string);
  }
  return kept;
}

/** How the end of the body is known. Node has checked that the two do not contradict each other. */
function framing({ headers }: IncomingMessage): string[] {
  if (headers["transfer-encoding"] !== undefined) return ["Transfer-Encoding", "chunked"];
  return headers["content-length"] === undefined ? [] : ["Content-Length", headers["content-length"]];
}
