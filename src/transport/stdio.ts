/** One client on stdin and stdout. Nothing but protocol ever goes to stdout; the end of stdin ends the session. */
import type { Readable, Writable } from "node:stream";
import type { Clock } from "../kernel/clock.ts";
import { LOCAL_USER } from "../kernel/principal.ts";
import { encodeBatch } from "../rpc/batch.ts";
import { LineWriter } from "../rpc/encode.ts";
import { LineReader } from "../rpc/lines.ts";
import type { Message } from "../rpc/message.ts";
import { INVALID_REQUEST } from "../rpc/rpc-error.ts";
import { readMessage } from "../rpc/scan.ts";
import { Batch } from "../session/batch.ts";
import { Channel } from "../session/era-2026/channel.ts";
import type { Session } from "../session/session.ts";
import { LineBatches } from "./line-batches.ts";
import type { Host, Transport } from "./transport.ts";

/** A client that does not read its answers is not asked for more work beyond this. */
const BACKLOG_BYTES = 4 * 1024 * 1024;

/** Children say these as often as they like: whoever is that far behind goes without. */
const PASSING: ReadonlySet<string> = new Set(["notifications/progress", "notifications/message"]);

/** A client that reads nothing any more does not keep us. */
const LAST_BYTES_MS = 5_000;

export interface StdioOptions {
  readonly input: Readable;
  readonly output: Writable;
  readonly maxMessageBytes: number;
  readonly clock: Clock;
}

export function createStdioTransport({ input, output, maxMessageBytes, clock }: StdioOptions): Transport {
  const writer = new LineWriter(output, { onDrain: () => input.resume() });
  const batches = new LineBatches((answers) => writer.sendLine(encodeBatch(answers)));
  let finish: () => void = () => {};

  function send(message: Message, alone?: boolean): void {
    const passing = message.kind === "notification" && PASSING.has(message.method);
    if (!passing || writer.backlog <= BACKLOG_BYTES) writer.send(message, alone);
  }

  function read(session: Session, channel: Channel): void {
    const lines = new LineReader(
      {
        onLine: (line) => {
          const message = readMessage(line);
          if (message.kind === "malformed" && session.batches && batches.read(line, message, session)) return;
          // Who has shaken hands speaks the era of handshakes.
          if (session.open || message.kind === "malformed" || !channel.receive(message))
            session.receive(message);
          batches.heard(message);
        },
        onTooLong: ({ id, method, bytes }) => {
          const reason = `A message of ${bytes} bytes is over the limit of ${maxMessageBytes} (--max-message)`;
          const meant = method ? "request" : "answer";
          session.receive({ kind: "malformed", code: INVALID_REQUEST, reason, id, meant });
        },
      },
      maxMessageBytes,
    );
    input.on("data", (chunk: Buffer) => {
      lines.push(chunk);
      if (writer.backlog > BACKLOG_BYTES) input.pause();
    });
    input.on("end", () => lines.end());
    // Whoever asked a person something on it before has left it paused.
    input.resume();
  }

  return {
    name: "stdio",
    info: "stdin and stdout",
    async serve(host: Host) {
      const session = host.open((message, via, alone) => {
        if (!(via instanceof Batch && via.take(message))) send(message, alone);
      }, LOCAL_USER);
      const channel = new Channel(host.era2026, send);
      await new Promise<void>((resolve) => {
        finish = resolve;
        read(session, channel);
        input.once("end", () => {
          // Writes nothing, but a socket (as Node gives its children) tells of a reader that is gone. A pipe does so
          // only for real bytes, and nothing tells before anybody writes: Node has no way to wait for that alone.
          output.write("");
          resolve();
        });
        input.once("close", resolve);
        input.once("error", () => resolve());
        // The reader is gone: nobody can be told anything any more.
        output.once("error", () => {
          host.ended(session);
          channel.end();
          resolve();
        });
      });
    },
    stop: () => Promise.resolve(),
    async close() {
      finish();
      input.destroy();
      writer.flush();
      await new Promise<void>((resolve) => {
        if (!output.writable) return resolve();
        output.write("", () => resolve());
        clock.after(LAST_BYTES_MS, resolve);
      });
    },
  };
}
