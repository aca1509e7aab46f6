import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "./system-clock.ts";

/** Both ends of a connection. */
async function pair(): Promise<[Socket, Socket]> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const accepted = new Promise<Socket>((resolve) => server.once("connection", resolve));
  const near = connect((server.address() as AddressInfo).port, "127.0.0.1");
  const far = await accepted;
  onTestFinished(() => {
    near.destroy();
    far.destroy();
    server.close();
  });
  return [near, far];
}

/** Blocks the process. */
const block = (ms: number): unknown => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

test("after the process was blocked, received data is handled before an overdue timer", async () => {
  const [near, far] = await pair();
  const order: string[] = [];
  near.on("data", () => order.push("heard"));
  await new Promise<void>((resolve) => {
    // After an immediate, the next iteration of the event loop begins with the timers.
    setImmediate(() => {
      far.write("in time");
      systemClock.after(50, () => {
        order.push("judged");
        resolve();
      });
      block(400);
    });
  });
  expect(order).toEqual(["heard", "judged"]);
});

test("a cancelled timer never runs, even if it was overdue", async () => {
  const ran: string[] = [];
  await new Promise<void>((resolve) => {
    setImmediate(() => {
      const late = systemClock.after(10, () => ran.push("late"));
      setTimeout(() => late.cancel(), 10);
      systemClock.after(20, resolve);
      block(400);
    });
  });
  systemClock.after(0, () => ran.push("cancelled")).cancel();
  await new Promise<void>((resolve) => void systemClock.after(20, resolve));
  expect(ran).toEqual([]);
});
