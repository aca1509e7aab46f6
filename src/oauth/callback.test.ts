import { once } from "node:events";
import { connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { ManualClock } from "../kernel/clock.ts";
import { type Arrival, Callback } from "./callback.ts";

async function waiting(): Promise<{ callback: Callback; arrival: Promise<Arrival>; port: number }> {
  const callback = await Callback.listen(0);
  onTestFinished(() => callback.close());
  const arrival = callback.arrival("our-state", new ManualClock(), 60_000);
  return { callback, arrival, port: Number(new URL(callback.address).port) };
}

/** As no client would write it. */
async function sendLine(port: number, line: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  socket.end(`${line} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
  let heard = "";
  socket.on("data", (part: Buffer) => (heard += part));
  await once(socket, "close");
  return heard;
}

test.each([
  "GET //",
  "GET http://",
  "GET //[",
  "GET http://x:99999999/callback?state=our-state",
  "OPTIONS *",
])("an address that is none ends no login: %s", async (line) => {
  const { callback, arrival, port } = await waiting();
  expect(await sendLine(port, line)).toMatch(/^HTTP\/1\.1 4\d\d /);
  void fetch(`${callback.address}?state=our-state&code=c`);
  const { code, reply } = await arrival;
  expect(code).toBe("c");
  await reply("a", "b");
});

test("who closes the window before the end has logged in all the same", async () => {
  const { callback, arrival, port } = await waiting();
  const socket = connect(port, "127.0.0.1");
  socket.write("GET /callback?state=our-state&code=c HTTP/1.1\r\nHost: x\r\n\r\n");
  const { reply } = await arrival;
  socket.destroy();
  // By the time this is answered the other end is known to be gone.
  for (let times = 0; times < 3; times++) expect((await fetch(callback.address)).status).toBe(400);
  await reply("a", "b");
});
