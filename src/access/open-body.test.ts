import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { MAX_OPEN_BYTES, watchOpenBody } from "./open-body.ts";

const LATER = 6_000;
const sent: IncomingMessage[] = [];

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  for (const request of sent.splice(0)) request.emit("close");
  vi.useRealTimers();
});

function send(address: string, headers: IncomingMessage["headers"] = { "content-length": "100" }) {
  const request = new IncomingMessage(new Socket());
  Object.assign(request.headers, headers);
  sent.push(request);
  return { request, fits: watchOpenBody(request, address) };
}

test("a body that is too large by its length is refused", () => {
  expect(send("192.0.2.1", { "content-length": String(MAX_OPEN_BYTES) }).fits).toBe(true);
  expect(send("192.0.2.1", { "content-length": String(MAX_OPEN_BYTES + 1) }).fits).toBe(false);
});

test("a body that does not arrive in time ends the connection, and a complete one stays", () => {
  const slow = send("192.0.2.1", { "transfer-encoding": "chunked" }).request;
  const complete = send("192.0.2.1").request;
  complete.complete = true;
  const none = send("192.0.2.1", {}).request;
  vi.advanceTimersByTime(LATER);
  expect([slow, complete, none].map(({ destroyed }) => destroyed)).toEqual([true, false, false]);
});

test("a network has few unfinished bodies: the oldest makes room, and other networks keep theirs", () => {
  const other = send("192.0.2.9").request;
  const own = Array.from({ length: 10 }, (_, at) => send(`2001:db8::${at}`).request);
  expect(own.map(({ destroyed }) => destroyed)).toEqual([true, true, ...Array<boolean>(8).fill(false)]);
  expect(other.destroyed).toBe(false);
});

test("there are few unfinished bodies in all", () => {
  const all = Array.from({ length: 100 }, (_, at) => send(`192.0.2.${at}`).request);
  expect(all.filter(({ destroyed }) => !destroyed)).toHaveLength(64);
  expect(all.at(-1)?.destroyed).toBe(false);
});
