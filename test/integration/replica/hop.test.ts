/** What becomes of a request on its way to a replica that dies: it is sent again only if that can do no harm. */
import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { ANONYMOUS } from "../../../src/kernel/principal.ts";
import { ChannelAgent, createChannelServer } from "../../../src/replica/channel.ts";
import { Hop, type Passed } from "../../../src/replica/hop.ts";
import { atEnd } from "../../support/shared.ts";

const KEY = Buffer.alloc(32, 1);
const LOST = "nobody knows whether it ran";

async function listening(server: Pick<Server, "listen" | "address" | "close" | "once">): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server as Server, "listening");
  atEnd(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** Sends one request through a replica to another one that listens at this port. */
async function passed(port: number, harmless: boolean): Promise<{ outcome: Passed; text: string }> {
  const agent = new ChannelAgent(KEY, "self");
  atEnd(() => agent.destroy());
  const hop = new Hop({ agent, self: "self", addressOf: () => "" });
  let outcome: Passed | undefined;
  const front = createServer((request, response) => {
    const received = { request, response, principal: ANONYMOUS };
    const stray = { received, id: "", body: Buffer.from("{}"), harmless, lost: () => Buffer.from(LOST) };
    void hop.pass(stray, { id: "other", address: `127.0.0.1:${port}` }).then((result) => {
      outcome = result;
      if (result.as !== "answered") response.end();
    });
  });
  const answer = await fetch(`http://127.0.0.1:${await listening(front)}/`, { method: "POST", body: "{}" });
  const text = await answer.text();
  return { outcome: outcome as Passed, text };
}

function replica(serve: RequestListener): Promise<number> {
  return listening(createChannelServer(KEY, serve));
}

test.each([
  { harmless: false, as: "answered", text: LOST },
  { harmless: true, as: "unreachable", text: "" },
])("a request that arrived at a replica that died, harmless: $harmless", async ({ harmless, as, text }) => {
  let arrived = 0;
  const port = await replica((request) => {
    arrived += 1;
    request.socket.destroy();
  });
  expect(await passed(port, harmless)).toMatchObject({ outcome: { as }, text });
  expect(arrived).toBe(1);
});

test("what was not sent may be sent elsewhere, whatever it does", async () => {
  const closed = createServer();
  const port = await listening(closed);
  closed.close();
  await once(closed, "close");
  expect((await passed(port, false)).outcome).toEqual({ as: "unreachable", refuses: true });
});

test("an answer that breaks off as an event stream ends with what is not known", async () => {
  const port = await replica((_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write("data: begun\n\n");
    setImmediate(() => response.socket?.destroy());
  });
  const { text } = await passed(port, false);
  expect(text).toContain("data: begun");
  expect(text).toContain(LOST);
});
