import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { ManualClock } from "../../kernel/clock.ts";
import type { Log, LogFields } from "../../kernel/log.ts";
import { maskOf } from "../../kernel/secret.ts";
import { Stderr } from "./stderr.ts";

function setUp() {
  const lines: { level: string; message: string; fields: LogFields | undefined }[] = [];
  const kept: string[] = [];
  const at = (level: string) => (message: string, fields?: LogFields) =>
    void lines.push({ level, message, fields });
  const log: Log = { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
  const stream = new PassThrough();
  const clock = new ManualClock();
  const stderr = new Stderr(stream, {
    server: "github",
    mask: maskOf(["hunter22"]),
    log,
    clock,
    onLine: (line) => void kept.push(line),
  });
  const write = async (...chunks: (string | Buffer)[]): Promise<void> => {
    for (const chunk of chunks) {
      stream.write(chunk);
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  return { lines, kept, stream, clock, stderr, write, texts: () => lines.map((line) => line.message) };
}

test("lines are logged at level debug with the name of the server", async () => {
  const { lines, write } = setUp();
  await write("listening on stdio\n[ERROR] no token\n");
  await write("x\n".repeat(100));
  expect(lines.slice(0, 2).map(({ message }) => message)).toEqual(["listening on stdio", "[ERROR] no token"]);
  expect(new Set(lines.map(({ level }) => level))).toEqual(new Set(["debug"]));
  expect(lines[0]?.fields).toMatchObject({ server: "github" });
});

test("lines and UTF-8 characters that are split over chunks are joined", async () => {
  const bytes = Buffer.from("grüße\nEnde");
  const { texts, write, stream, stderr } = setUp();
  await write(...[...bytes].map((byte) => Buffer.from([byte])));
  expect(texts()).toEqual(["grüße"]);
  expect(stderr.lastLines(2)).toEqual(["grüße", "Ende"]);
  stream.end();
  await new Promise((resolve) => stream.once("close", resolve));
  expect(texts()).toEqual(["grüße", "Ende"]);
});

test("control sequences for terminals are removed", async () => {
  const { texts, write, stderr } = setUp();
  await write("\u001b[31mred\u001b[0m\u0007 bell\u001b]0;title\u0007\n10%\r50%\r100%\r\n\n   \n");
  expect(texts()).toEqual(["red bell", "100%"]);
  expect(stderr.lastLines(1)).toEqual(["100%"]);
});

test("the kept lines have their indentation, those of the log do not", async () => {
  const { kept, texts, write, stderr } = setUp();
  await write("Traceback:\n  File\n\t\u001b[31mraise\u001b[0m\n   \n");
  expect(kept).toEqual(["Traceback:", "  File", "    raise"]);
  expect(texts()).toEqual(["Traceback:", "File", "raise"]);
  expect(stderr.lastLines(3)).toEqual(kept);
});

test("secrets of the child are masked", async () => {
  const { texts, write, stderr } = setUp();
  await write("using hunter22 (hunter22)\n");
  expect(texts()).toEqual(["using [secret] ([secret])"]);
  expect(stderr.lastLines(1)).toEqual(texts());
});

test("long lines are cut, complete or not", async () => {
  const { texts, write, stderr } = setUp();
  for (let i = 0; i < 100; i++) await write("x".repeat(5_000));
  await write("end\nnext\n");
  expect(texts()).toEqual([`${"x".repeat(2_000)} …`, "next"]);
  expect(stderr.lastLines(9).map((line) => line.length)).toEqual([502, 4]);
});

test("of a flood the first lines are logged, the rest is counted, and the last lines are kept", async () => {
  const { texts, write, clock, stderr } = setUp();
  await write(Array.from({ length: 1_000 }, (_, i) => `line ${i}\n`).join(""));
  expect(texts()).toEqual(Array.from({ length: 50 }, (_, i) => `line ${i}`));
  clock.advance(1_000);
  expect(texts().at(-1)).toBe("950 more lines of stderr not shown");
  expect(stderr.lastLines(2)).toEqual(["line 998", "line 999"]);
});

test("a flood pauses the stream until the next window, and not at all once the child has ended", async () => {
  const { stream, write, clock, stderr } = setUp();
  await write(Buffer.alloc(1_000_000, "x"));
  expect(stream.isPaused()).toBe(true);
  clock.advance(100);
  expect(stream.isPaused()).toBe(false);
  await write(Buffer.alloc(1_000_000, "x"));
  expect(stream.isPaused()).toBe(true);
  stderr.release();
  expect(stream.isPaused()).toBe(false);
  await write(Buffer.alloc(1_000_000, "x"));
  expect(stream.isPaused()).toBe(false);
});

test("the last lines contain the message of an exception, but not its stack", async () => {
  const { write, stderr } = setUp();
  const frames = Array.from({ length: 10 }, (_, n) => `    at run (node:internal/main:${n}:49)`);
  await write(
    ["node:internal/loader:1143", "  throw err;", "  ^", "", "Error: Cannot find module '/x.mjs'"].join("\n"),
    `\n${frames.join("\n")} {\n  code: 'MODULE_NOT_FOUND'\n}\n\nNode.js v20.20.2\n`,
  );
  expect(stderr.lastLines(5)).toEqual(["Error: Cannot find module '/x.mjs'", "  code: 'MODULE_NOT_FOUND'"]);
});
