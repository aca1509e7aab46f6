/**
 * Results, cursors, tasks and sessions that a gateway gave to one principal at one endpoint cannot be used by
 * another principal or at another endpoint.
 */
import { expect, test } from "vitest";
import { envelope, era2026Headers } from "../../support/eras.ts";
import { HEADERS, messages } from "../../support/http-gateway.ts";
import { mcp } from "../../support/mcp-request.ts";
import { ADA, grantedClient, oauthTeam } from "../../support/oauth-team.ts";
import { type TeamGateway, teamGateway } from "../../support/team-gateway.ts";
import { fixture, temp } from "../../support/temp.ts";
import { until } from "../../support/until.ts";

type Json = Record<string, unknown>;
const TASKS = "io.modelcontextprotocol/tasks";
const ABLE = { elicitation: {}, extensions: { [TASKS]: {} } };

async function team() {
  const folder = temp();
  const gateway = await teamGateway(folder);
  const journal = folder.journal();
  await gateway.api("POST", "/mcp-servers", {
    name: "fix",
    ...fixture("--tasks", "--journal", journal.file),
  });
  await gateway.api("POST", "/namespaces", { name: "team", servers: [{ server: "fix" }] });
  for (const name of ["one", "two"])
    await gateway.api("POST", "/endpoints", { name, namespaces: ["team"], surface: "meta" });
  const [ada, bob] = [await gateway.key(), await gateway.key()];
  const at = (endpoint: string, key: string) => ({
    endpoint,
    key,
    ask: (method: string, params: Json) => ask(gateway, endpoint, key, { method, params }),
    call: (tool: string, args: Json, more: Json = {}) =>
      ask(gateway, endpoint, key, {
        method: "tools/call",
        params: { name: "mcp_call", arguments: { server: "fix", tool, args }, ...more },
      }),
  });
  const owner = at("one", ada);
  return { folder, gateway, journal, owner, strangers: [at("one", bob), at("two", ada), at("two", bob)] };
}

async function ask(
  { url }: TeamGateway,
  endpoint: string,
  key: string,
  { method, params }: { method: string; params: Json },
): Promise<{ result?: Json; error?: { code: number; message: string } }> {
  const body = { jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: envelope(ABLE) } };
  const response = await fetch(`${url}/metamcp/${endpoint}/mcp`, {
    method: "POST",
    headers: { ...HEADERS, ...era2026Headers(method, params), "x-api-key": key },
    body: JSON.stringify(body),
  });
  return (await messages(response)).at(-1) ?? {};
}

test("a stored result can be read only by its principal at its endpoint", async () => {
  const { owner, strangers } = await team();
  const { result } = await owner.call("big", { bytes: 300_000 });
  const [uri = ""] = /metamcp:\/\/result\/[\w-]+/.exec(JSON.stringify(result)) ?? [];
  expect((await owner.ask("resources/read", { uri })).result).toBeDefined();
  const nowhere = uri.replace(/.{6}$/, "AAAAAA");
  for (const stranger of strangers) {
    const never = await stranger.ask("resources/read", { uri: nowhere });
    expect(never.error).toBeDefined();
    const { error } = await stranger.ask("resources/read", { uri });
    expect(JSON.stringify(error)).toBe(JSON.stringify(never.error).replaceAll(nowhere, uri));
    const read = { name: "mcp_call", arguments: { server: "metamcp", tool: "read", args: { uri } } };
    expect((await stranger.ask("tools/call", read)).result).toMatchObject({ isError: true });
    const { result: listed } = await stranger.ask("resources/list", {});
    expect(JSON.stringify(listed)).not.toContain(uri);
  }
});

test("a cursor is valid only for its principal at its endpoint", async () => {
  const { owner, strangers } = await team();
  const page = (cursor?: string) => ({
    name: "mcp_discover",
    arguments: { server: "fix", limit: 1, ...(cursor && { cursor }) },
  });
  await owner.call("echo", { message: "its tools are known" });
  const { result } = await owner.ask("tools/call", page());
  const [, nextCursor = ""] = /nextCursor[\\": ]+([\w-]+)/.exec(JSON.stringify(result)) ?? [];
  expect(nextCursor).not.toBe("");
  expect((await owner.ask("tools/call", page(nextCursor))).result).toBeDefined();
  for (const stranger of strangers) {
    const answer = await stranger.ask("tools/call", page(nextCursor));
    expect(answer.error ?? answer.result).toMatchObject(answer.error ? { code: -32602 } : { isError: true });
  }
});

test("a call that waits for input can be continued only by its principal at its endpoint", async () => {
  const { owner, strangers, journal } = await team();
  const { result } = await owner.call("ask", {});
  const { requestState, inputRequests } = result as { requestState: string; inputRequests: Json };
  const [name = ""] = Object.keys(inputRequests);
  const more = { requestState, inputResponses: { [name]: { action: "accept", content: {} } } };
  for (const stranger of strangers) expect((await stranger.call("ask", {}, more)).error?.code).toBe(-32602);
  const done = await owner.call("ask", {}, more);
  expect(done.result).toMatchObject({ structuredContent: { answer: { action: "accept" } } });
  expect(journal.events("message").filter(({ tool }) => tool === "ask")).toHaveLength(1);
});

test("a task can be read and cancelled only by its principal at its endpoint", async () => {
  const { owner, strangers, folder } = await team();
  const { result } = await owner.call("job", { until: folder.path("gate") });
  const taskId = String(result?.["taskId"]);
  expect((await owner.ask("tasks/get", { taskId })).result).toMatchObject({ status: "working" });
  for (const stranger of strangers)
    for (const method of ["tasks/get", "tasks/cancel"])
      expect((await stranger.ask(method, { taskId })).error?.code, method).toBe(-32602);
  folder.write("gate", "");
  await until(async () => (await owner.ask("tasks/get", { taskId })).result?.["status"] === "completed");
});

test("a session, its streams and its event ids are valid only for their principal at their endpoint", async () => {
  const { gateway, owner, strangers } = await team();
  const begin = async ({ endpoint, key }: { endpoint: string; key: string }) => {
    const { headers } = await mcp(gateway, endpoint, { headers: { "x-api-key": key } });
    return headers.get("mcp-session-id") ?? "";
  };
  const address = (endpoint: string) => `${gateway.url}/metamcp/${endpoint}/mcp`;
  const session = await begin(owner);
  const call = { name: "mcp_call", arguments: { server: "fix", tool: "progress", args: { n: 2 } } };
  const streamed = await fetch(address("one"), {
    method: "POST",
    headers: { ...HEADERS, "x-api-key": owner.key, "mcp-session-id": session },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 5,
      method: "tools/call",
      params: { ...call, _meta: { progressToken: 1 } },
    }),
  });
  const [event = ""] = [...(await streamed.text()).matchAll(/^id: (\S+)$/gm)].map(([, id]) => id ?? "");
  const resume = (endpoint: string, key: string, named: string) =>
    fetch(address(endpoint), {
      headers: {
        accept: "text/event-stream",
        "x-api-key": key,
        "mcp-session-id": named,
        "last-event-id": event,
      },
    });
  expect((await resume("one", owner.key, session)).status).toBe(200);
  for (const stranger of strangers) {
    const { endpoint, key } = stranger;
    expect((await resume(endpoint, key, session)).status).toBe(404);
    expect((await resume(endpoint, key, await begin(stranger))).status).toBe(400);
    for (const method of ["DELETE", "GET"]) {
      const headers = { accept: "text/event-stream", "x-api-key": key, "mcp-session-id": session };
      expect((await fetch(address(endpoint), { method, headers })).status).toBe(404);
    }
  }
  const sseStream = await fetch(`${gateway.url}/metamcp/one/sse`, { headers: { "x-api-key": owner.key } });
  const first = new TextDecoder().decode((await sseStream.body?.getReader().read())?.value);
  const [, path = ""] = /^data: (\S+)$/m.exec(first) ?? [];
  for (const { endpoint, key } of strangers) {
    const answer = await fetch(gateway.url + path.replace("/one/", `/${endpoint}/`), {
      method: "POST",
      headers: { ...HEADERS, "x-api-key": key },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" }),
    });
    expect(answer.status).toBe(404);
  }
});

test("an API key and an OAuth client of the same account cannot use each other's sessions", async () => {
  const oauth = await oauthTeam();
  const { tokens } = await grantedClient(oauth, ADA);
  const { body } = await oauth.api("POST", "/api-keys", { name: "k", endpoints: "all", owner: ADA.email });
  const credentials = [{ headers: { "x-api-key": String(body.key) } }, { token: tokens.access_token }];
  for (const [at, credential] of credentials.entries()) {
    const session = (await mcp(oauth, "one", credential)).headers.get("mcp-session-id") ?? "";
    expect((await mcp(oauth, "one", { ...credential, session })).status).toBe(200);
    expect((await mcp(oauth, "one", { ...credentials[1 - at], session })).status).toBe(404);
  }
});
