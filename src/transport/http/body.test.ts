import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { ANONYMOUS } from "../../kernel/principal.ts";
import { unfinishedBodies } from "../../kernel/unfinished-bodies.ts";
import { readMessageOf } from "./body.ts";

const PING = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });

/** A connection to a server that reads one message. */
async function reader() {
  let counted = (_bytes: number): void => {};
  const server = createServer((request, response) => {
    const principal = ANONYMOUS;
    readMessageOf({ request, response, principal }, ({ kind }) => response.end(kind));
    request.on("data", () => counted(unfinishedBodies.bytes));
    request.once("close", () => setImmediate(() => counted(unfinishedBodies.bytes)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => server.close().closeAllConnections());
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  const next = () =>
    new Promise<number>((resolve) => {
      counted = resolve;
    });
  const send = (coding: string, body: string) =>
    socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${coding}\r\n\r\n${body}`);
  return { socket, send, next };
}

test.each([
  [`Content-Length: ${PING.length}`, PING.slice(0, 10)],
  ["Transfer-Encoding: chunked", `a\r\n${PING.slice(0, 10)}\r\n`],
])(
  "the first part of a body that is not complete counts until the client leaves: %s",
  async (coding, part) => {
    const { socket, send, next } = await reader();
    const arrived = next();
    send(coding, part);
    expect(await arrived).toBe(10);
    const closed = next();
    socket.destroy();
    expect(await closed).toBe(0);
  },
);

test("a body that is complete with its first part is not counted", async () => {
  const { send, next } = await reader();
  const arrived = next();
  send(`Content-Length: ${PING.length}`, PING);
  expect(await arrived).toBe(0);
});
