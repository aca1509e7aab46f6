/**
 * Transport for one client on stdin and stdout. Only protocol messages go to stdout. The end of stdin ends
 * the session.
 */
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

/** Reading from stdin pauses while more than this is waiting to be written to stdout. */
const BACKLOG_BYTES = 4 * 1024 * 1024;

/** Notifications that are dropped beyond that backlog, because children may send any number of them. */
const DROPPABLE: ReadonlySet<string> = new Set(["notifications/progress", "notifications/message"]);

/** `close` waits at most this long for the client to read the last bytes. */
const FLUSH_MS = 5_000;

/** Numbers the sessions. Nobody else can send messages for one, so its id need not be secret. */
let opened = 0;

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
    const droppable = message.kind === "notification" && DROPPABLE.has(message.method);
    if (!droppable || writer.backlog <= BACKLOG_BYTES) writer.send(message, alone);
  }

  function read(session: Session, channel: Channel): void {
    const lines = new LineReader(
      {
        onLine: (line) => {
          const message = readMessage(line);
          if (message.kind === "malformed" && session.batches && batches.read(line, message, session)) return;
          // After `initialize` every message belongs to the session; before that, it may be a stateless
          // request.
          if (session.open || message.kind === "malformed" || !channel.receive(message))
            session.receive(message);
          batches.dropCancelled(message);
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
    // A prompt that read from this stream before may have left it paused.
    input.resume();
  }

  return {
    name: "stdio",
    info: "stdin and stdout",
    async serve(host: Host) {
      const session = host.open(
        (message, via, alone) => {
          if (!(via instanceof Batch && via.take(message))) send(message, alone);
        },
        LOCAL_USER,
        { id: `stdio-${++opened}` },
      );
      const channel = new Channel(host.era2026, send);
      await new Promise<void>((resolve) => {
        finish = resolve;
        read(session, channel);
        input.once("end", () => {
          // An empty write makes a socket (which Node uses for its child processes) report that its reader
          // has closed. A pipe reports it only for real bytes. Node offers no way to detect a closed reader
          // without writing.
          output.write("");
          resolve();
        });
        input.once("close", resolve);
        input.once("error", () => resolve());
        // The client has closed stdout, so no answer can reach it.
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
        clock.after(FLUSH_MS, resolve);
      });
    },
  };
}
