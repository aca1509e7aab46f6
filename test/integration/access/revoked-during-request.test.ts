/**
 * Credentials that are revoked while a request is still arriving, or before its session exists, must not be
 * used any more.
 */
import { request } from "node:http";
import { expect, test } from "vitest";
import { HEADERS } from "../../support/http-gateway.ts";
import { layeredTeam } from "../../support/layered-team.ts";
import { mcp } from "../../support/mcp-request.ts";
import { type TeamGateway, teamClient, teamGateway } from "../../support/team-gateway.ts";
import { fixture, temp } from "../../support/temp.ts";
import { until } from "../../support/until.ts";

const ERA_2026 = "2026-07-28";
const META = {
  "io.modelcontextprotocol/protocolVersion": ERA_2026,
  "io.modelcontextprotocol/clientInfo": { name: "slow", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};
const clientInfo = { name: "slow", version: "1" };
const INITIALIZE = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
const rpc = (method: string, params: object) => ({ jsonrpc: "2.0", id: 1, method, params });

async function team() {
  const folder = temp();
  const gateway = await teamGateway(folder);
  const { api } = gateway;
  const journal = folder.journal();
  await api("POST", "/mcp-servers", { name: "fix", ...fixture("--journal", journal.file) });
  await api("POST", "/namespaces", { name: "team", servers: [{ server: "fix" }] });
  const common = { namespaces: ["team"], surface: "aggregate" };
  await api("POST", "/endpoints", { name: "one", ...common, openapi: true });
  await api("POST", "/endpoints", { name: "loose", ...common, stateless: true });
  await (await teamClient(gateway, "one", { key: await gateway.key() })).tools();
  const reached = (): number => journal.events("message").filter(({ tool }) => tool !== undefined).length;
  return { gateway, api, reached };
}

/** Sends the head of a request and waits until it was accepted. The body is sent by `finish`. */
async function begun({ url }: TeamGateway, path: string, headers: object, body: object) {
  const sent = request(`${url}${path}`, {
    method: "POST",
    headers: { ...HEADERS, ...headers, expect: "100-continue" },
  });
  const answered = new Promise<{ status: number; session: unknown; text: string }>((resolve) => {
    sent.once("error", () => resolve({ status: 0, session: undefined, text: "" }));
    sent.once("response", (response) => {
      let text = "";
      response.on("data", (part: Buffer) => (text += part));
      response.on("close", () =>
        resolve({ status: response.statusCode ?? 0, session: response.headers["mcp-session-id"], text }),
      );
    });
  });
  sent.flushHeaders();
  await new Promise((resolve) => sent.once("continue", resolve));
  return {
    finish: () => {
      sent.end(JSON.stringify(body));
      return answered;
    },
  };
}

const CALL = { name: "fix__echo", arguments: { message: "late" } };
const MODERN = { "mcp-protocol-version": ERA_2026, "mcp-method": "tools/call", "mcp-name": CALL.name };
const LISTEN = { "mcp-protocol-version": ERA_2026, "mcp-method": "subscriptions/listen" };
/** Path, headers and body. */
const REQUESTS: readonly (readonly [string, object, object])[] = [
  ["/metamcp/one/mcp", {}, rpc("initialize", INITIALIZE)],
  ["/metamcp/one/mcp", MODERN, rpc("tools/call", { ...CALL, _meta: META })],
  ["/metamcp/one/mcp", LISTEN, rpc("subscriptions/listen", { toolsListChanged: true, _meta: META })],
  ["/metamcp/loose/mcp", {}, rpc("tools/call", CALL)],
  ["/metamcp/one/api/fix__echo", {}, CALL.arguments],
];

test("a request whose caller loses the right to the endpoint before its body arrives is rejected", async () => {
  const { gateway, api, reached } = await team();
  const key = await gateway.key();
  const calls = reached();
  for (const [path, headers, body] of REQUESTS) {
    const { finish } = await begun(gateway, path, { ...headers, "x-api-key": key }, body);
    const endpoint = `/endpoints/${path.split("/")[2]}`;
    expect((await api("PATCH", endpoint, { access: { keys: false } })).status).toBe(200);
    const { status, session } = await finish();
    expect([status, session], JSON.stringify(body)).toEqual([404, undefined]);
    expect((await api("PATCH", endpoint, { access: { keys: true } })).status).toBe(200);
  }
  expect(reached()).toBe(calls);
});

test("a request whose key is revoked before its body arrives is rejected", async () => {
  const { gateway, api, reached } = await team();
  for (const [path, headers, body] of REQUESTS) {
    const name = JSON.stringify(body);
    const once = async (revoked: boolean) => {
      const { body: made } = await api("POST", "/api-keys", { name: "leaves", endpoints: "all" });
      const { finish } = await begun(gateway, path, { ...headers, "x-api-key": made.key }, body);
      if (revoked) await api("DELETE", `/api-keys/${made.uuid}`);
      const answer = await finish();
      await api("DELETE", `/api-keys/${made.uuid}`);
      return answer;
    };
    if (!name.includes("listen")) expect((await once(false)).status, name).toBe(200);
    const calls = reached();
    const answer = await once(true);
    expect(answer.status, name).toBe(401);
    expect(answer.session).toBeUndefined();
    expect(reached()).toBe(calls);
  }
  const { items } = (await api("GET", "/sessions")).body;
  const leaving = items.filter(
    ({ principal }: { principal: { name?: string } }) => principal.name === "leaves",
  );
  expect(leaving).toEqual([]);
});

test("an SSE message whose key is revoked before its body arrives is rejected", async () => {
  const { gateway, api } = await team();
  const { body: made } = await api("POST", "/api-keys", { name: "leaves", endpoints: "all" });
  const headers = { "x-api-key": made.key };
  const stream = await fetch(`${gateway.url}/metamcp/one/sse`, { headers });
  const reader = stream.body?.getReader();
  const text = new TextDecoder().decode((await reader?.read())?.value);
  const [, path = ""] = /^data: (\S+)$/m.exec(text) ?? [];
  const { finish } = await begun(gateway, path, headers, rpc("initialize", INITIALIZE));
  await api("DELETE", `/api-keys/${made.uuid}`);
  expect([401, 404]).toContain((await finish()).status);
});

test("a running request without a session ends when its key is revoked", async () => {
  const { gateway, api, reached } = await team();
  const { body: made } = await api("POST", "/api-keys", { name: "leaves", endpoints: "all" });
  const calls = reached();
  const waiting = mcp(gateway, "loose", { headers: { "x-api-key": made.key } });
  expect((await waiting).status).toBe(200);
  const { finish } = await begun(
    gateway,
    "/metamcp/loose/mcp",
    { "x-api-key": made.key },
    rpc("tools/call", { name: "fix__hang", arguments: {} }),
  );
  const answer = finish();
  await until(() => reached() > calls, { what: "the call at the server" });
  await api("DELETE", `/api-keys/${made.uuid}`);
  expect((await answer).text).not.toContain('"result"');
});

test("the admin API checks the permission again when the body has arrived", async () => {
  const { gateway, api } = await team();
  const { body: made } = await api("POST", "/api-keys", { name: "leaves", role: "admin" });
  const headers = { authorization: `Bearer ${made.key}` };
  const { finish } = await begun(gateway, "/api/v1/namespaces", headers, { name: "late" });
  await api("DELETE", `/api-keys/${made.uuid}`);
  expect((await finish()).status).toBe(401);
  const { items } = (await api("GET", "/namespaces")).body;
  expect(items.map(({ name }: { name: string }) => name)).toEqual(["team"]);
});

test("a task that waits for an approval ends with its key and with its endpoint", async () => {
  const approve = { use: "policy", default: "allow", rules: [{ effect: "approve", tools: ["fix:echo"] }] };
  const { gateway, api, reached } = await layeredTeam({ endpoint: { middleware: [approve] } });
  const { items: endpoints } = (await api("GET", "/endpoints")).body;
  const { uuid: meta } = endpoints.find(({ name }: { name: string }) => name === "meta");
  const args = { server: "fix", tool: "echo", args: { message: "late" } };
  const ends = {
    key: (key: string) => api("DELETE", `/api-keys/${key}`),
    endpoint: () => api("PATCH", `/endpoints/${meta}`, { disabled: true }),
  };
  for (const [what, end] of Object.entries(ends)) {
    const { body: made } = await api("POST", "/api-keys", { name: "leaves", endpoints: "all" });
    const headers = { ...HEADERS, "x-api-key": made.key };
    const { headers: answered } = await mcp(gateway, "meta", { headers });
    const session = answered.get("mcp-session-id") ?? "";
    // The request is answered as soon as the task exists, without waiting for the call.
    const answer = fetch(`${gateway.url}/metamcp/meta/mcp`, {
      method: "POST",
      headers: { ...headers, "mcp-session-id": session },
      body: JSON.stringify(rpc("tools/call", { name: "mcp_call", arguments: args, task: {} })),
    }).then((response) => response.text());
    expect(await answer).toContain("taskId");
    const { items } = (await api("GET", "/approvals?state=waiting")).body;
    expect(items, what).toHaveLength(1);
    await end(made.uuid);
    await until(async () => (await api("GET", "/approvals?state=waiting")).body.items.length === 0);
    expect((await api("POST", `/approvals/${items[0].uuid}/approve`)).status, what).toBe(409);
  }
  expect(reached("echo")).toBe(0);
});
