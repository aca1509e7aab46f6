/** Webhooks: told once that a call waits, signed and without arguments; tried, retried, masked. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { layeredTeam } from "../../support/layered-team.ts";
import { atEnd, shared } from "../../support/shared.ts";
import { teamClient } from "../../support/team-gateway.ts";
import { until } from "../../support/until.ts";

const team = shared(async () => {
  const got: { signature: unknown; body: Record<string, unknown> }[] = [];
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (chunk: Buffer) => (text += chunk));
    request.on("end", () => {
      got.push({ signature: request.headers["metamcp-signature"], body: JSON.parse(text) });
      response.writeHead(request.url === "/broken" ? 500 : 204).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  atEnd(() => void server.close());
  const made = await layeredTeam({
    endpoint: {
      middleware: [
        {
          use: "policy",
          default: "allow",
          rules: [{ effect: "approve", tools: ["fix:echo"], withinMs: "1m" }],
        },
      ],
    },
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { ...made, got, url };
});

const HOOK = { events: ["approval.waiting"], secret: "a-secret-of-16-letters", allowPrivate: true };

test("a webhook is masked, refused without https, and tried with a button", async () => {
  const { api, url, got } = team();
  const plain = { ...HOOK, name: "ops", url: `${url}/in`, allowPrivate: false };
  expect((await api("PATCH", "/settings", { notify: [plain] })).body.errors).toEqual([
    { path: "/notify/0/url", message: "must begin with https://, unless allowPrivate is on" },
  ]);
  const named = { ...plain, allowPrivate: true, secret: "${WEBHOOK_SECRET}" };
  expect((await api("PATCH", "/settings", { notify: [named] })).body.errors).toMatchObject([
    { path: "/notify/0/secret" },
  ]);
  const saved = await api("PATCH", "/settings", { notify: [{ ...plain, allowPrivate: true }] });
  expect(saved.body.notify).toEqual([
    { ...HOOK, name: "ops", format: "json", url: `${url}/********`, secret: "********" },
  ]);
  const { revision } = saved.body;
  expect((await api("PATCH", "/settings", { notify: saved.body.notify })).body.revision).toBe(revision);
  expect((await api("GET", "/config")).body.needs).toContain("/settings/notify/0/secret");
  expect((await api("POST", "/notify/ops/try", {})).body).toEqual({ sent: true });
  expect(got.at(-1)?.body).toMatchObject({ event: "test", version: 1 });
  expect((await api("POST", "/notify/nobody/try", {})).status).toBe(404);
});

test("a waiting call is told once, with a link and without its arguments", async () => {
  const { api, gateway, key, url, got } = team();
  await api("PATCH", "/settings", {
    notify: [
      { ...HOOK, name: "ops", url: `${url}/in` },
      { ...HOOK, name: "broken", url: `${url}/broken` },
    ],
  });
  const client = await teamClient(gateway, "aggregate", { key });
  const called = client.call("fix__echo", { message: "secret words" }).catch(() => {});
  const told = () => got.filter(({ body }) => body["event"] === "approval.waiting");
  await until(() => told().length >= 2);
  const { body, signature } = told()[0] as (typeof got)[number];
  const [approval] = (await api("GET", "/approvals")).body.items;
  expect(body).toMatchObject({
    link: `${gateway.url}/requests/${approval.uuid}`,
    object: { kind: "approval", name: "fix:echo" },
  });
  expect(signature).toMatch(/^t=\d+,v1=[0-9a-f]{64}$/);
  expect(JSON.stringify(body)).not.toContain("secret words");
  const states = async () =>
    new Map(
      (await api("GET", "/notify")).body.items.map((one: Record<string, unknown>) => [one["webhook"], one]),
    );
  await until(
    async () => (await states()).get("broken") !== undefined && (await states()).get("ops") !== undefined,
  );
  await until(async () => ((await states()).get("broken") as { attempts: number }).attempts === 1);
  expect((await states()).get("broken")).toMatchObject({
    state: "waiting",
    attempts: 1,
    reason: expect.stringContaining("answered 500"),
  });
  expect((await states()).get("ops")).toMatchObject({ state: "sent", attempts: 1 });
  await api("POST", `/approvals/${approval.uuid}/refuse`, {});
  await called;
});
