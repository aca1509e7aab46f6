import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { ManualClock } from "../../kernel/clock.ts";
import { silentLog } from "../../kernel/log.ts";
import { fromRaw } from "../../kernel/raw.ts";
import type { Message } from "../../rpc/message.ts";
import { Stdout } from "./stdout.ts";

function setUp(maxMessageBytes = 1 << 20) {
  const warnings: string[] = [];
  const [messages, answers]: [Message[], Message[]] = [[], []];
  const stream = new PassThrough();
  const clock = new ManualClock();
  const stdout = new Stdout(stream, {
    server: "github",
    mask: (text) => text.replaceAll("hunter22", "[secret]"),
    log: { ...silentLog, warn: (message) => void warnings.push(message) },
    clock,
    maxMessageBytes,
    onMessage: (message) => void messages.push(message),
    answer: (message) => void answers.push(message),
  });
  const write = async (text: string): Promise<void> => {
    stream.write(text);
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { stdout, stream, clock, warnings, messages, answers, write };
}

const notification = '{"jsonrpc":"2.0","method":"n"}\n';

test("lines that are no messages are logged at a limited rate with secrets masked, and a flood of them pauses the stream", async () => {
  const { stdout, stream, clock, warnings, messages, write } = setUp();
  expect(stdout.lastGarbage).toBeUndefined();
  await write(`key hunter22\n${notification}`);
  expect(stdout.lastGarbage).toBe("key [secret]");
  expect(warnings).toEqual(["a line on stdout is not a message: key [secret]"]);
  await write(`${"y\n".repeat(4_000)}${notification}`);
  expect(messages).toHaveLength(2);
  expect(stream.isPaused()).toBe(true);
  expect(warnings).toHaveLength(5);
  clock.advance(1_000);
  expect(stream.isPaused()).toBe(false);
  expect(warnings).toHaveLength(6);
  expect(warnings.at(-1)).toMatch(/^3996 more/);
});

test("an unreadable answer fails its request, an unreadable request gets an error, and a log line is ignored", async () => {
  const { warnings, messages, answers, write, stream } = setUp();
  stream.write(Buffer.from('{"jsonrpc":"2.0","id":1,"result":{"text":"caf\u00e9"}}\n', "latin1"));
  await write('{"jsonrpc":"2.0","id":2,"error":"oops"}\n{"jsonrpc":"2.0","id":3}\n');
  await write('{"jsonrpc":"2.0","id":4,"method":"roots/list","params":7}\n');
  await write('{"level":"error","id":5,"error":"disk full"}\n{"jsonrpc":"2.0","method":"n","params":7}\n');
  const ids = [messages, answers].map((list) =>
    list.map((one) => one.kind === "error" && one.id?.toString()),
  );
  expect(ids).toEqual([["1", "2", "3"], ["4"]]);
  const [first] = messages;
  expect(first?.kind === "error" && fromRaw(first.error)).toEqual({
    code: -32603,
    message: "the message could not be read: not UTF-8",
  });
  expect(warnings).toHaveLength(5);
});

test("messages are not throttled", async () => {
  const { stream, messages, write } = setUp();
  await write(notification.repeat(50_000));
  expect(messages).toHaveLength(50_000);
  expect(stream.isPaused()).toBe(false);
});

test("the last message before the end of the stream needs no line break", async () => {
  const { stream, messages } = setUp();
  stream.end(notification.trimEnd());
  await new Promise((resolve) => stream.once("close", resolve));
  expect(messages).toHaveLength(1);
});

test("over the size limit an answer fails its request, a request gets an error, and a notification is dropped", async () => {
  const { warnings, messages, answers, write } = setUp(100);
  const text = "x".repeat(100);
  await write(`{"jsonrpc":"2.0","id":1,"result":{"text":"${text}"}}\n`);
  await write(`{"jsonrpc":"2.0","id":2,"method":"sampling/createMessage","params":{"text":"${text}"}}\n`);
  await write(`{"jsonrpc":"2.0","method":"n","params":{"text":"${text}"}}\n`);
  const errors = [messages, answers].map((list) =>
    list.map((one) => one.kind === "error" && [one.id?.toString(), fromRaw(one.error)]),
  );
  const data = { metamcp: "result_too_large" };
  expect(errors).toEqual([
    [["1", expect.objectContaining({ code: -32603, data })]],
    [["2", expect.objectContaining({ code: -32600 })]],
  ]);
  expect(warnings).toHaveLength(3);
});

test("a log line that contains an answer does not count as the answer", async () => {
  const { messages, answers, write } = setUp();
  await write('sending {"jsonrpc":"2.0","id":1,"result":{}}\n');
  expect([messages, answers]).toEqual([[], []]);
});
