import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bodyOf, sendWebhook } from "./send-webhook.ts";

const MESSAGE = {
  id: "1",
  event: "approval.waiting",
  at: "2026-01-01T00:00:00.000Z",
  text: "ada <waits> & hopes",
  link: "https://gateway.example/requests/1",
  object: { kind: "approval", uuid: "1", name: "bank:pay" },
};

const got: { headers: Record<string, unknown>; body: string }[] = [];
let status = 200;
const server = createServer((request, response) => {
  let body = "";
  request.on("data", (chunk: Buffer) => (body += chunk));
  request.on("end", () => {
    got.push({ headers: request.headers, body });
    response.writeHead(status, { location: "http://127.0.0.1:1/" }).end("x".repeat(100_000));
  });
});
beforeAll(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)));
afterAll(() => server.close());

const hook = (more: object = {}) => ({
  url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/in`,
  format: "json" as const,
  secret: "a-secret-of-16-letters",
  allowPrivate: true,
  ...more,
});

test("a message is signed with its time", async () => {
  await sendWebhook(hook(), MESSAGE, 1_700_000_000_999);
  const { headers, body } = got.at(-1) as (typeof got)[number];
  const expected = createHmac("sha256", "a-secret-of-16-letters").update(`1700000000.${body}`).digest("hex");
  expect(headers["metamcp-signature"]).toBe(`t=1700000000,v1=${expected}`);
  expect(JSON.parse(body)).toEqual({ version: 1, ...MESSAGE });
});

test("private addresses are refused, by name and by what a name leads to, before anything is sent", async () => {
  const before = got.length;
  await expect(sendWebhook(hook({ allowPrivate: false }), MESSAGE, 0)).rejects.toThrow("not a public");
  const rebound = hook({ allowPrivate: false, url: "https://hooks.example/in" });
  await expect(
    sendWebhook(rebound, MESSAGE, 0, (_name, _options, callback) =>
      callback(null, [{ address: "127.0.0.1", family: 4 }]),
    ),
  ).rejects.toThrow("not a public address");
  expect(got.length).toBe(before);
});

test.each([302, 404, 500])("an answer of %s is a failure, and a redirect is not followed", async (code) => {
  status = code;
  await expect(sendWebhook(hook(), MESSAGE, 0)).rejects.toThrow(`answered ${code}`);
  status = 200;
});

test("text for Slack cannot be markup", () => {
  expect(JSON.parse(bodyOf("slack", MESSAGE))).toEqual({
    text: "ada &lt;waits&gt; &amp; hopes\n<https://gateway.example/requests/1|Open in MetaMCP>",
  });
});
