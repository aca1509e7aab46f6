/** The HTTP API of an endpoint: a generated client calls its tools, and each failure has its own status. */
import { readFileSync } from "node:fs";
import createClient from "openapi-fetch";
import { expect, test } from "vitest";
import { auditRecords } from "../../support/records.ts";
import { type TeamGateway, teamGateway } from "../../support/team-gateway.ts";
import { fixture, ROOT, temp } from "../../support/temp.ts";
import { until } from "../../support/until.ts";

const TOOLS = [
  { server: "fix", tool: "add", name: "sum", annotations: { readOnlyHint: true } },
  { server: "fix", tool: "env", disabled: true },
  { server: "fix", tool: "args", args: { who: { fixed: "gateway" } } },
];

async function team(endpoint: object = {}, server: object = {}, flags: readonly string[] = []) {
  const gateway = await teamGateway(temp(), { flags });
  const { api } = gateway;
  await api("POST", "/mcp-servers", { name: "fix", ...fixture(), ...server });
  await api("POST", "/namespaces", { name: "team", servers: [{ server: "fix" }], tools: TOOLS });
  const fields = { name: "team", namespaces: ["team"], openapi: true, ...endpoint };
  const { body } = await api("POST", "/endpoints", fields);
  const key = await gateway.key();
  return {
    gateway,
    api,
    key,
    endpoint: body,
    ask: (path: string, args?: unknown, more?: RequestOptions) => ask(gateway, key, path, args, more),
  };
}

interface RequestOptions {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly text?: string;
}

async function ask(
  { url }: TeamGateway,
  key: string,
  path: string,
  args?: unknown,
  options: RequestOptions = {},
) {
  const { method = "POST", headers = {}, text = JSON.stringify(args) } = options;
  const response = await fetch(`${url}/metamcp/team/api/${path}`, {
    method,
    headers: { "x-api-key": key, "content-type": "application/json", ...headers },
    ...(method === "GET" || text === undefined ? {} : { body: text }),
  });
  const written = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    type: response.headers.get("content-type"),
    // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever was answered
    body: (written === "" ? undefined : JSON.parse(written)) as any,
    written,
  };
}

/** The part of the generated types that is used here. */
interface Paths {
  readonly "/fix__sum": {
    readonly post: {
      readonly requestBody: { readonly content: { readonly "application/json": { a: number; b: number } } };
      readonly responses: {
        readonly 200: { readonly content: { readonly "application/json": { sum: number } } };
        readonly 400: { readonly content: { readonly "application/problem+json": { code: string } } };
      };
    };
  };
}

test("a typed client calls a tool at the address given by the description", async () => {
  const { gateway, key, ask } = await team();
  const { body: document } = await ask("openapi.json", undefined, { method: "GET" });
  const baseUrl = new URL(document.servers[0].url, gateway.url).href;
  const client = createClient<Paths>({ baseUrl, headers: { "x-api-key": key } });
  const posted = await client.POST("/fix__sum", { body: { a: 40, b: 2 } });
  expect(posted.data?.sum).toBe(42);
  expect((await ask("fix__sum?a=1.5&b=2", undefined, { method: "GET" })).body).toEqual({ sum: 3.5 });
  const wrong = await client.POST("/fix__sum", { body: { a: "x" as never, b: 2 } });
  expect(wrong.error?.code).toBe("validation_input");
});

test("the description is valid and contains only what the endpoint shows", async () => {
  const { ask, endpoint, api } = await team();
  const { status, body } = await ask("openapi.json", undefined, { method: "GET" });
  expect(status).toBe(200);
  const { default: Ajv } = await import("ajv/dist/2020.js");
  // The only dynamic reference in the schema means `$defs/schema`, but the validator resolves it to the root.
  const written = readFileSync(`${ROOT}/test/data/openapi/schema-3.1.json`, "utf8");
  const schema = JSON.parse(written.replaceAll('"$dynamicRef": "#meta"', '"$ref": "#/$defs/schema"'));
  const validate = new Ajv.default({ strict: false, validateFormats: false }).compile(schema);
  expect(validate(body), JSON.stringify(validate.errors?.slice(0, 3))).toBe(true);
  expect(Object.keys(body.paths["/fix__sum"])).toEqual(["post"]);
  expect(JSON.stringify(body)).not.toMatch(/fix__(add|env)\b/);
  expect(body.components.schemas["fix__args.input"]).not.toHaveProperty("properties.who");
  expect(body.security).toEqual([{ bearer: [] }, { key: [] }]);
  await api("PATCH", `/endpoints/${endpoint.uuid}`, { access: { public: true } });
  const open = await ask("openapi.json", undefined, { method: "GET" });
  expect(open.body.security).toEqual([]);
  await api("PATCH", `/endpoints/${endpoint.uuid}`, { openapi: false });
  expect((await ask("openapi.json", undefined, { method: "GET" })).status).toBe(404);
});

test("results are returned byte for byte, and without structured content the content is returned", async () => {
  const { ask } = await team();
  expect((await ask("fix__echo", { message: "hello" })).body).toEqual({
    content: [{ type: "text", text: "hello" }],
  });
  const { written } = await ask("fix__args", undefined, {
    text: '{\n "n": 12345678901234567890, "f": 1.0 }',
  });
  expect(written).toContain('"n": 12345678901234567890, "f": 1.0');
  expect(written).toContain('"who":"gateway"');
  expect((await ask("fix__sum?a=0.10&b=2", undefined, { method: "GET" })).body).toEqual({ sum: 2.1 });
});

test("a record has the size of the arguments, given as a body or as a query", async () => {
  const { gateway, ask } = await team();
  await ask("fix__sum", { a: 1, b: 2 });
  await ask("fix__sum?a=1&b=2", undefined, { method: "GET" });
  const records = await auditRecords(gateway, "&kind=call", 2);
  expect(records).toMatchObject([{ requestBytes: 13 }, { requestBytes: 13 }]);
});

test("each failure has its own status and is a problem document", async () => {
  const { gateway, ask } = await team();
  const { body } = await ask("fix__nothing", {});
  const problem = async (expected: number, ...request: Parameters<typeof ask>) => {
    const answer = await ask(...request);
    expect({ request, status: answer.status, type: answer.type }).toEqual({
      request,
      status: expected,
      type: "application/problem+json",
    });
    expect(answer.body).toMatchObject({ status: expected, detail: expect.any(String) });
    return answer;
  };
  expect(body.code).toBe("tool_not_found");
  await problem(400, "fix__sum", { a: 1 });
  await problem(400, "fix__sum", [1, 2]);
  await problem(400, "fix__sum", undefined, { text: "{" });
  await problem(400, "fix__args", { who: "me" });
  await problem(400, "fix__sum?a=1&a=2&b=3", undefined, { method: "GET" });
  await problem(400, "fix__sum?a=one&b=3", undefined, { method: "GET" });
  await problem(400, "%zz", {});
  await problem(401, "fix__sum", { a: 1, b: 2 }, { headers: { "x-api-key": "none" } });
  for (const hidden of ["fix__env", "fix__add", "fix__nothing", "nobody__x"]) await problem(404, hidden, {});
  expect((await problem(405, "fix__sum", {}, { method: "PUT" })).headers.get("allow")).toBe("GET, POST");
  expect((await problem(405, "fix__echo", undefined, { method: "GET" })).headers.get("allow")).toBe("POST");
  await problem(404, "fix__env", undefined, { method: "GET" });
  expect((await problem(405, "fix__sum", undefined, { method: "OPTIONS" })).headers.get("allow")).toBe(
    "GET, POST",
  );
  expect((await problem(405, "openapi.json", {})).headers.get("allow")).toBe("GET, HEAD");
  const head = await ask("openapi.json", undefined, { method: "HEAD" });
  expect([head.status, head.type, head.written]).toEqual([200, "application/json", ""]);
  await problem(413, "fix__echo", { message: "x".repeat(4 * 1024 * 1024) });
  await problem(415, "fix__echo", { message: "x" }, { headers: { "content-type": "text/plain" } });
  const own = await problem(422, "fix__is_error", { message: "no such city" });
  expect(own.body.detail).toBe("no such city");
  const child = await problem(502, "fix__fail", { code: -32050, message: "broken", data: { at: 7 } });
  expect(child.body).toMatchObject({ detail: "broken", error: { code: -32050, data: { at: 7 } } });
  await problem(503, "fix__crash", { code: 3 });
  const absent = await fetch(`${gateway.url}/metamcp/nobody/api/fix__sum`, { method: "POST" });
  expect([absent.status, absent.headers.get("content-type")]).toEqual([401, "application/problem+json"]);
});

test("a timeout is answered with 504, and a server that cannot start with 503", async () => {
  const { api, ask } = await team({}, { timeoutMs: 300 });
  expect((await ask("fix__hang", {})).status).toBe(504);
  await api("PATCH", "/mcp-servers/fix", { command: "/nowhere/to/be/found" });
  expect((await ask("fix__sum", { a: 1, b: 2 })).status).toBe(503);
});

test("the layers of the endpoint apply: 403, 404, 429 and redaction", async () => {
  const { api, ask } = await team();
  const layers = async (...middleware: object[]) => await api("PATCH", "/endpoints/team", { middleware });
  const rules = [{ effect: "deny", tools: ["fix:echo"], args: { message: { glob: "no*" } } }];
  await layers({ use: "policy", default: "allow", rules });
  const forbidden = await ask("fix__echo", { message: "no way" });
  expect([forbidden.status, forbidden.type]).toEqual([403, "application/problem+json"]);
  expect(forbidden.body).toMatchObject({ code: "forbidden", retryable: false });
  expect((await ask("fix__echo", { message: "yes" })).status).toBe(200);

  await layers({ use: "filter", deny: ["fix:add"] });
  expect((await ask("fix__sum", { a: 1, b: 2 })).status).toBe(404);
  const { body } = await ask("openapi.json", undefined, { method: "GET" });
  expect(Object.keys(body.paths)).not.toContain("/fix__sum");

  await layers({ use: "rate-limit", requests: 1, per: "1h" });
  expect((await ask("fix__echo", { message: "x" })).status).toBe(200);
  const limited = await ask("fix__echo", { message: "x" });
  expect([limited.status, limited.type]).toEqual([429, "application/problem+json"]);
  expect(Number(limited.headers.get("retry-after"))).toBeGreaterThan(3_000);
  expect(limited.body.code).toBe("rate_limited");

  await layers({ use: "redact", detect: ["email"] });
  expect((await ask("fix__echo", { message: "ada@example.org" })).written).toContain("[email]");

  const { key } = (await api("POST", "/api-keys", { name: "reads", endpoints: "all", tiers: ["readOnly"] }))
    .body;
  const reading = { headers: { "x-api-key": key } };
  expect((await ask("fix__sum", { a: 1, b: 2 }, reading)).status).toBe(200);
  expect((await ask("fix__echo", { message: "x" }, reading)).status).toBe(404);
  const shown = await ask("openapi.json", undefined, { ...reading, method: "GET" });
  expect(Object.keys(shown.body.paths)).toEqual(["/fix__sum"]);
});

test("without a free connection the answer is 503 with Retry-After", async () => {
  const { api, ask } = await team({}, {}, ["--max-connections", "1"]);
  await api("POST", "/mcp-servers", { name: "other", ...fixture() });
  await api("PATCH", "/namespaces/team", { servers: [{ server: "fix" }, { server: "other" }] });
  expect((await ask("other__echo", { message: "x" })).status).toBe(200);
  await api("PATCH", "/mcp-servers/other", { connectTimeoutMs: 300 });
  void ask("fix__hang", {}).catch(() => {});
  const full = await until(async () => {
    const answer = await ask("other__echo", { message: "x" });
    return answer.status === 200 ? undefined : answer;
  });
  expect([full.status, full.body.code]).toEqual([503, "pool_exhausted"]);
  expect(Number(full.headers.get("retry-after"))).toBeGreaterThan(0);
});

test("a client that disconnects cancels its call", async () => {
  const folder = temp();
  const journal = folder.journal();
  const { gateway, key, ask } = await team({}, fixture("--journal", journal.file));
  await ask("fix__sum", { a: 1, b: 2 });
  const leaving = new AbortController();
  const call = fetch(`${gateway.url}/metamcp/team/api/fix__hang`, {
    method: "POST",
    headers: { "x-api-key": key, "content-type": "application/json" },
    body: "{}",
    signal: leaving.signal,
  }).catch(() => "left");
  await until(() => journal.events("message").some(({ tool }) => tool === "hang"));
  leaving.abort();
  expect(await call).toBe("left");
  await until(() => journal.events("message").some(({ method }) => method === "notifications/cancelled"));
});
