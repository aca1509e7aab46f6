import { spawn } from "node:child_process";
import { once } from "node:events";
import { Writable } from "node:stream";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { until } from "../../test/support/until.ts";
import { asRaw, type Raw } from "../kernel/raw.ts";
import { encode, LineWriter } from "./encode.ts";
import type { Message } from "./message.ts";
import { readMessage } from "./scan.ts";

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const raw = (text: string): Raw => asRaw(Buffer.from(text));
const answer = (id: number, text = "{}"): Message => ({
  kind: "result",
  id: raw(`${id}`),
  result: raw(text),
});

test.each<[Message, string]>([
  [
    { kind: "request", id: raw("1.0"), method: 'a/"b', params: raw('{"x":-0}') },
    '"id":1.0,"method":"a/\\"b","params":{"x":-0}',
  ],
  [
    { kind: "request", id: raw('"ж"'), method: "ö/語", params: raw('{"ä":"😀"}') },
    '"id":"ж","method":"ö/語","params":{"ä":"😀"}',
  ],
  [{ kind: "request", id: raw('"\\u0061"'), method: "m", params: undefined }, '"id":"\\u0061","method":"m"'],
  [{ kind: "notification", method: "m", params: undefined }, '"method":"m"'],
  [{ kind: "notification", method: "m", params: raw("[]") }, '"method":"m","params":[]'],
  [answer(3, "null"), '"id":3,"result":null'],
  [{ kind: "error", id: raw("3"), error: raw("{}") }, '"id":3,"error":{}'],
  [{ kind: "error", id: undefined, error: raw("{}") }, '"id":null,"error":{}'],
])("encode writes %j, and readMessage reads it back", (message, inside) => {
  const bytes = Buffer.concat(encode(message));
  expect(bytes.toString()).toBe(`{"jsonrpc":"2.0",${inside}}`);
  expect(readMessage(bytes)).toEqual(message);
});

test("encode writes many different methods correctly", () => {
  for (let n = 0; n < 300; n++) {
    const text = Buffer.concat(
      encode({ kind: "notification", method: `m${n % 150}`, params: undefined }),
    ).toString();
    expect(text).toBe(`{"jsonrpc":"2.0","method":"m${n % 150}"}`);
  }
});

/** A stream that records each write. With `holding` a write ends when the test calls `hold`. */
class Sink extends Writable {
  readonly writes: Buffer[][] = [];
  hold: (() => void) | undefined;
  #holding: boolean;

  constructor(holding = false) {
    super({ highWaterMark: 64 });
    this.#holding = holding;
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.#take([chunk], done);
  }

  override _writev(chunks: { chunk: Buffer }[], done: () => void): void {
    this.#take(
      chunks.map(({ chunk }) => chunk),
      done,
    );
  }

  #take(chunks: Buffer[], done: () => void): void {
    this.writes.push(chunks);
    if (!this.#holding) return done();
    this.hold = () => {
      this.hold = undefined;
      done();
    };
  }

  get text(): string {
    return Buffer.concat(this.writes.flat()).toString();
  }
}

describe("LineWriter", () => {
  const line = (id: number, text = "{}"): string => `{"jsonrpc":"2.0","id":${id},"result":${text}}\n`;

  test("joins small messages of one event into one write", async () => {
    const sink = new Sink();
    const writer = new LineWriter(sink);
    for (let id = 0; id < 20; id++) writer.send(answer(id));
    await Promise.resolve().then(() => writer.send(answer(20)));
    await until(() => sink.writes.length > 0);
    expect(sink.writes.map((chunks) => chunks.length)).toEqual([1]);
    expect(sink.text).toBe(Array.from({ length: 21 }, (_, id) => line(id)).join(""));
  });

  test("writes large payloads without a copy and keeps the order", async () => {
    const sink = new Sink();
    const writer = new LineWriter(sink);
    const big = raw(`"${"x".repeat(100_000)}"`);
    writer.send(answer(1));
    writer.send({ kind: "result", id: raw("2"), result: big });
    writer.send(answer(3));
    await until(() => sink.writes.length > 0);
    expect(sink.writes[0]?.some((chunk) => chunk === big)).toBe(true);
    expect(sink.writes[0]?.length).toBe(3);
    expect(sink.text).toBe(line(1) + line(2, big.toString()) + line(3));
  });

  test("reports the backlog in bytes, and when the stream has room again", async () => {
    const sink = new Sink(true);
    let drained = 0;
    const writer = new LineWriter(sink, { onDrain: () => drained++ });
    writer.send(answer(1, `"${"x".repeat(500)}"`));
    const bytes = line(1).length + 500;
    expect(writer.backlog).toBe(bytes);
    await until(() => sink.hold !== undefined);
    expect([writer.backlog, drained]).toEqual([bytes, 0]);
    sink.hold?.();
    await until(() => drained === 1);
    expect(writer.backlog).toBe(0);
  });

  test("flush() writes at once and writes nothing twice", async () => {
    const sink = new Sink();
    const writer = new LineWriter(sink);
    writer.send(answer(1));
    writer.flush();
    expect(sink.text).toBe(line(1));
    writer.send(answer(2));
    await until(() => sink.writes.length === 2);
    expect(sink.text).toBe(line(1) + line(2));
  });

  test.each([true, false])(
    "writes queued messages together with one sent at once, byTurn: %s",
    async (byTurn) => {
      const sink = new Sink();
      const writer = new LineWriter(sink, { byTurn });
      writer.send(answer(1));
      writer.send(answer(2), true);
      expect(sink.text).toBe(line(1) + line(2));
      writer.send(answer(3), true);
      writer.send(answer(4));
      await turn();
      await turn();
      expect(sink.writes.map((chunks) => chunks.length)).toEqual([1, 1, 1]);
      expect(sink.text).toBe([1, 2, 3, 4].map((id) => line(id)).join(""));
    },
  );

  test("writes all messages once and in order, and counts them in the backlog until then", async () => {
    const step = fc.oneof(
      fc.record({ bytes: fc.constantFrom(0, 10, 20_000), atOnce: fc.boolean() }),
      fc.record({ notification: fc.constant(true) }),
      fc.constantFrom("flush" as const, "turn" as const, "drain" as const),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), fc.boolean(), async (steps, byTurn) => {
        const sink = new Sink(true);
        const writer = new LineWriter(sink, { byTurn });
        let expected = "";
        for (const [id, what] of steps.entries()) {
          if (what === "flush") writer.flush();
          else if (what === "turn") await turn();
          else if (what === "drain") sink.hold?.();
          else if ("notification" in what) {
            writer.send({ kind: "notification", method: "n", params: undefined });
            expected += '{"jsonrpc":"2.0","method":"n"}\n';
          } else {
            const text = `"${"x".repeat(what.bytes)}"`;
            writer.send(answer(id, text), what.atOnce);
            expected += line(id, text);
          }
          expect(expected.startsWith(sink.text)).toBe(true);
          expect(writer.backlog).toBeGreaterThanOrEqual(expected.length - sink.text.length);
        }
        for (let rest = 0; rest <= steps.length; rest++) {
          await turn();
          sink.hold?.();
        }
        expect([sink.text, writer.backlog]).toEqual([expected, 0]);
      }),
      { numRuns: 200 },
    );
  });

  test("reports a broken pipe as an event", async () => {
    const closesStdin = 'require("node:fs").closeSync(0); console.log("closed"); setInterval(() => {}, 1e6)';
    const child = spawn(process.execPath, ["-e", closesStdin], { stdio: ["pipe", "pipe", "ignore"] });
    try {
      const errors: NodeJS.ErrnoException[] = [];
      const writer = new LineWriter(child.stdin, { onError: (error) => errors.push(error) });
      await once(child.stdout, "data");
      writer.send(answer(1, `"${"x".repeat(50_000)}"`));
      await until(() => errors.length > 0);
      writer.send(answer(2));
      writer.flush();
      await turn();
      expect([errors.map(({ code }) => code), writer.backlog]).toEqual([["EPIPE"], 0]);
    } finally {
      child.kill("SIGKILL");
      await once(child, "exit");
    }
  });

  test("drops messages to an ended stream", async () => {
    const ended = new Sink();
    const errors: Error[] = [];
    const writer = new LineWriter(ended, { onError: (error) => errors.push(error) });
    writer.send(answer(1));
    ended.end();
    writer.flush();
    writer.send(answer(2));
    await turn();
    expect([ended.text, errors, writer.backlog]).toEqual(["", [], 0]);
  });
});
