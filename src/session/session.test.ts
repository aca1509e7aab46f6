import { expect, test } from "vitest";
import type { Origin } from "../kernel/call.ts";
import { ManualClock } from "../kernel/clock.ts";
import { LOCAL } from "../kernel/principal.ts";
import { EMPTY_OBJECT } from "../kernel/raw.ts";
import type { Message } from "../rpc/message.ts";
import { readMessage } from "../rpc/scan.ts";
import type { Surface } from "../surface/surface.ts";
import { Session } from "./session.ts";

test("a session keeps the client's capabilities but not the buffer of the handshake message", async () => {
  let origin: Origin | undefined;
  const surface: Surface = {
    capabilities: {},
    instructions: () => "",
    handle(request) {
      origin = request.origin;
      return Promise.resolve(EMPTY_OBJECT);
    },
  };
  const sent: Message[] = [];
  const session = new Session(surface, (message) => void sent.push(message), {
    ...LOCAL,
    clock: new ManualClock(),
  });
  const say = (message: object): void =>
    session.receive(readMessage(Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...message }))));
  const clientInfo = { name: "x".repeat(1_000_000), version: "1" };
  const capabilities = { elicitation: {} };
  say({ id: 1, method: "initialize", params: { protocolVersion: "2025-11-25", capabilities, clientInfo } });
  say({ id: 2, method: "tools/list" });
  await expect.poll(() => sent.map(({ kind }) => kind)).toEqual(["result", "result"]);
  expect(origin?.capabilities.toString()).toBe('{"elicitation":{}}');
  expect(origin?.capabilities.buffer.byteLength).toBeLessThan(100_000);
});

test("a session sends the client no requests and notifications before the handshake is complete", async () => {
  const asked: Promise<unknown>[] = [];
  const surface: Surface = {
    capabilities: {},
    instructions: () => "",
    prepare: async ({ uplink, roots }) => {
      uplink?.notify("notifications/message", EMPTY_OBJECT);
      if (roots) asked.push(roots.ask());
      expect(roots?.expensiveToAsk).toBe(true);
    },
    handle: () => Promise.resolve(EMPTY_OBJECT),
  };
  const sent: Message[] = [];
  const session = new Session(surface, (message) => void sent.push(message), {
    ...LOCAL,
    clock: new ManualClock(),
  });
  const say = (message: object): void =>
    session.receive(readMessage(Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...message }))));
  const params = { protocolVersion: "2025-11-25", capabilities: { roots: {} } };
  say({ id: 1, method: "initialize", params });
  say({ id: 2, method: "ping" });
  await expect.poll(() => sent.map(({ kind }) => kind)).toEqual(["result", "result"]);
  say({ method: "notifications/initialized" });
  say({ id: 3, method: "tools/list" });
  await expect.poll(() => sent.map(({ kind }) => kind)).toEqual(["result", "result", "request", "result"]);
  const { id } = sent[2] as Message & { kind: "request" };
  say({ id: Number(id.toString()), result: { roots: [] } });
  expect(await asked[0]).toMatchObject({ answer: { result: expect.anything() } });
});
