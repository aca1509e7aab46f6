/** A TCP proxy that a test can interrupt and restore, to simulate an outage of the server behind it. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { atEnd } from "./shared.ts";

export interface CutProxy {
  readonly port: number;
  /** Ends all connections and refuses new ones. */
  cut(): Promise<void>;
  /** Accepts connections again, at the same port. */
  mend(): Promise<void>;
  /** From now on drops the answers of the server; the first answer closes its connection. */
  loseAnswers(): void;
  /** Answers of the server arrive so much later. */
  slow(ms: number): void;
  /** Stops forwarding in both directions without closing anything, like a server that hangs. */
  stall(): void;
  /** Continues forwarding, starting with the delayed data. */
  flow(): void;
}

interface Target {
  readonly host: string;
  readonly port: number;
}

/** `watch` is called for each connection and returns a function that gets all bytes of the client. */
export async function cutProxy(target: Target, watch?: () => (bytes: Buffer) => void): Promise<CutProxy> {
  const sockets = new Set<Socket>();
  let losing = false;
  let stalled = false;
  let late = 0;
  let server: Server | undefined;
  let port = 0;

  function forward(near: Socket): void {
    const far = connect(target);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on("error", () => {});
      from.on("close", () => {
        sockets.delete(from);
        to.destroy();
      });
    }
    const seen = watch?.();
    near.on("data", (bytes) => {
      seen?.(bytes);
      far.write(bytes);
    });
    if (stalled) for (const socket of [near, far]) socket.pause();
    far.on("data", (bytes) => {
      if (losing) near.destroy();
      else if (late === 0) near.write(bytes);
      else setTimeout(() => near.write(bytes), late);
    });
  }

  async function mend(): Promise<void> {
    losing = false;
    server = createServer(forward).listen(port, "127.0.0.1");
    await once(server, "listening");
    port = (server.address() as AddressInfo).port;
  }

  async function cut(): Promise<void> {
    const closing = server;
    server = undefined;
    const closed = closing && once(closing, "close");
    closing?.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  }

  await mend();
  atEnd(cut);
  return {
    get port() {
      return port;
    },
    cut,
    mend,
    loseAnswers: () => {
      losing = true;
    },
    slow: (ms) => {
      late = ms;
    },
    stall: () => {
      stalled = true;
      for (const socket of sockets) socket.pause();
    },
    flow: () => {
      stalled = false;
      for (const socket of sockets) socket.resume();
    },
  };
}
