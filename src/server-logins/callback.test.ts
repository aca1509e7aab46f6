import { once } from "node:events";
import { connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { ManualClock } from "../kernel/clock.ts";
import { Callback, type CallbackAnswer } from "./callback.ts";

async function setUp(): Promise<{ callback: Callback; answer: Promise<CallbackAnswer>; port: number }> {
  const callback = await Callback.listen(0);
  onTestFinished(() => callback.close());
  const answer = callback.waitForAnswer("our-state", new ManualClock(), 60_000);
  return { callback, answer, port: Number(new URL(callback.address).port) };
}

/** Sends a request line that no client would send. */
async function sendLine(port: number, line: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  socket.end(`${line} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
  let received = "";
  socket.on("data", (part: Buffer) => (received += part));
  await once(socket, "close");
  return received;
}

test.each([
  "GET //",
  "GET http://",
  "GET //[",
  "GET http://x:99999999/callback?state=our-state",
  "OPTIONS *",
])("an invalid request line does not end the login: %s", async (line) => {
  const { callback, answer, port } = await setUp();
  expect(await sendLine(port, line)).toMatch(/^HTTP\/1\.1 4\d\d /);
  void fetch(`${callback.address}?state=our-state&code=c`);
  const { code, reply } = await answer;
  expect(code).toBe("c");
  await reply("a", "b");
});

test("the login succeeds if the user closes the window before the reply", async () => {
  const { callback, answer, port } = await setUp();
  const socket = connect(port, "127.0.0.1");
  socket.write("GET /callback?state=our-state&code=c HTTP/1.1\r\nHost: x\r\n\r\n");
  const { reply } = await answer;
  socket.destroy();
  // After these requests the server has noticed that the other connection is closed.
  for (let times = 0; times < 3; times++) expect((await fetch(callback.address)).status).toBe(400);
  await reply("a", "b");
});
