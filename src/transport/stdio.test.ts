import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { ManualClock } from "../kernel/clock.ts";
import { LOCAL } from "../kernel/principal.ts";
import { toRaw } from "../kernel/raw.ts";
import type { Send } from "../rpc/peer.ts";
import { Session } from "../session/session.ts";
import type { Surface } from "../surface/surface.ts";
import { createStdioTransport } from "./stdio.ts";
import type { Host } from "./transport.ts";

const surface: Surface = {
  capabilities: {},
  instructions: () => "",
  handle: () => Promise.reject(new Error("this test sends no requests")),
};

test("progress and log notifications are dropped while a client does not read; other messages still arrive", async () => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const transport = createStdioTransport({
    input,
    output,
    maxMessageBytes: 1 << 20,
    clock: new ManualClock(),
  });
  let send: Send = () => {};
  const host: Pick<Host, "open" | "ended"> = {
    open(given) {
      send = given;
      return new Session(surface, given, { ...LOCAL, clock: new ManualClock() });
    },
    ended: () => {},
  };
  const served = transport.serve(host as Host);
  const params = toRaw({ progressToken: 1, progress: 1, message: "x".repeat(10_000) });
  for (const method of ["notifications/progress", "notifications/message"])
    for (let i = 0; i < 1_000; i++) send({ kind: "notification", method, params }, undefined);
  expect(output.writableLength + output.readableLength).toBeLessThan(5_000_000);
  send({ kind: "notification", method: "notifications/tools/list_changed", params: undefined }, undefined);
  send({ kind: "result", id: toRaw(7), result: toRaw({}) }, undefined, true);
  input.end();
  await served;
  const closed = transport.close().then(() => output.end());
  const lines = Buffer.concat(await output.toArray())
    .toString()
    .trim()
    .split("\n");
  await closed;
  expect(lines.slice(-2)).toEqual([
    '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}',
    '{"jsonrpc":"2.0","id":7,"result":{}}',
  ]);
  // Notifications below the backlog limit arrived.
  expect(lines.length).toBeGreaterThan(100);
});
