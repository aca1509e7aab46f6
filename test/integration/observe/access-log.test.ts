/** The access log: one line per HTTP request, with an id that the client also gets. */
import { expect, test } from "vitest";
import { HEADERS, httpGateway } from "../../support/http-gateway.ts";
import { ADMIN_TOKEN, teamGateway } from "../../support/team-gateway.ts";
import { fixture, temp } from "../../support/temp.ts";
import { until } from "../../support/until.ts";

interface Line {
  readonly request?: string;
  readonly [field: string]: unknown;
}

function lines(stderr: string): readonly Line[] {
  return stderr
    .split("\n")
    .filter((line) => line.startsWith("{") && line.endsWith("}"))
    .map((line) => JSON.parse(line) as Line);
}

const lineOf = (from: { readonly stderr: string }, id: string): Promise<Line> =>
  until(() => lines(from.stderr).find(({ request }) => request === id));

test("a gateway logs every request with id, status, address and principal, without the query", async () => {
  const gateway = await teamGateway(temp(), {
    flags: ["--access-log", "--trust-proxy", "127.0.0.1"],
  });
  await gateway.api("POST", "/namespaces", { name: "team", servers: [] });
  await gateway.api("POST", "/endpoints", { name: "one", namespaces: ["team"] });
  const key = await gateway.key();
  const url = `${gateway.url}/metamcp/one/mcp?api_key=secret-in-the-url`;
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
  const ask = (headers: Record<string, string>) =>
    fetch(url, { method: "POST", body, headers: { ...HEADERS, "x-forwarded-for": "192.0.2.7", ...headers } });
  const answer = await ask({ "x-api-key": key, "x-request-id": "from-proxy/1" });
  await answer.text();
  expect(answer.headers.get("x-request-id")).toBe("from-proxy/1");
  const line = await lineOf(gateway, "from-proxy/1");
  expect(line).toMatchObject({
    level: "info",
    method: "POST",
    path: "/metamcp/one/mcp",
    status: answer.status,
    address: "192.0.2.7",
    principal: { kind: "key" },
  });
  expect(line["bytes"]).toBeGreaterThan(0);
  expect(line["ms"]).toBeGreaterThanOrEqual(0);

  // An id that could forge a line or fill the log is replaced; a refused request is logged too.
  const refused = await ask({ "x-request-id": "x".repeat(129) });
  await refused.text();
  const made = refused.headers.get("x-request-id") ?? "";
  expect(made).toMatch(/^[0-9a-f-]{36}$/);
  const logged = await lineOf(gateway, made);
  expect(logged).toMatchObject({ status: 401 });
  expect(logged["principal"]).toBeUndefined();
  expect(gateway.stderr).not.toContain("secret-in-the-url");
});

test("without the access log only an id that the client sent is returned; personal mode has the log too", async () => {
  const quiet = await httpGateway(temp());
  const sent = await quiet.post({ id: 1, method: "ping" }, { "x-request-id": "mine" });
  const unsent = await quiet.post({ id: 1, method: "ping" });
  expect([sent.headers.get("x-request-id"), unsent.headers.get("x-request-id")]).toEqual(["mine", null]);
  const logging = await httpGateway(temp(), "--access-log", "--log-level", "info");
  await (await logging.post({ id: 1, method: "ping" }, { "x-request-id": "mine" })).text();
  expect(await lineOf(logging, "mine")).toMatchObject({ method: "POST", path: "/mcp", address: "127.0.0.1" });
});

test("calls, changes and logins have the id of their request in the audit log, and can be found by it", async () => {
  const gateway = await teamGateway(temp(), { flags: ["--access-log"] });
  await gateway.api("POST", "/mcp-servers", { name: "a", ...fixture() });
  await gateway.api("POST", "/namespaces", { name: "team", servers: [{ server: "a" }] });
  const endpoint = { name: "one", namespaces: ["team"], surface: "aggregate", openapi: true };
  await gateway.api("POST", "/endpoints", endpoint);
  const key = await gateway.key();
  const post = async (path: string, body: unknown, headers: Record<string, string>): Promise<string> => {
    const init = { method: "POST", headers: { ...HEADERS, ...headers }, body: JSON.stringify(body) };
    const answer = await fetch(gateway.url + path, init);
    await answer.text();
    return answer.headers.get("x-request-id") ?? "";
  };
  const mcp = (body: unknown, headers: Record<string, string> = {}) =>
    post("/metamcp/one/mcp", body, { "x-api-key": key, ...headers });
  const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "a__echo", arguments: {} } };
  const info = { name: "old", version: "1" };
  const params = { protocolVersion: "2025-03-26", capabilities: {}, clientInfo: info };
  const initialize = { jsonrpc: "2.0", id: 0, method: "initialize", params };
  const begun = await fetch(`${gateway.url}/metamcp/one/mcp`, {
    method: "POST",
    headers: { ...HEADERS, "x-api-key": key },
    body: JSON.stringify(initialize),
  });
  await begun.text();
  const session = { "mcp-session-id": begun.headers.get("mcp-session-id") ?? "" };
  const admin = { authorization: `Bearer ${ADMIN_TOKEN}` };
  const era2026 = {
    ...call.params,
    _meta: {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {},
    },
  };
  const ids = {
    sent: await mcp(call, { "x-request-id": "sent-by-proxy" }),
    made: await mcp(call, session),
    batch: await mcp([call], session),
    stateless: await mcp(
      { ...call, params: era2026 },
      { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "a__echo" },
    ),
    openapi: await post("/metamcp/one/api/a__echo", { message: "x" }, { "x-api-key": key }),
    change: await post("/api/v1/namespaces", { name: "other" }, admin),
    login: await post("/api/v1/login", { email: "eve@example.org", password: "wrong" }, {}),
  };
  expect(ids.sent).toBe("sent-by-proxy");
  for (const [name, id] of Object.entries(ids)) {
    expect(id, name).not.toBe("");
    const found = await until(
      async () => {
        const { items } = (await gateway.api("GET", `/audit?request=${encodeURIComponent(id)}`)).body;
        return items.length > 0 && (items as { kind: string; request: string }[]);
      },
      { what: `the record of ${name}` },
    );
    const kind = name === "change" ? "admin" : name === "login" ? "login" : "call";
    expect(
      found.map(({ kind, request }) => ({ kind, request })),
      name,
    ).toEqual([{ kind, request: id }]);
    expect(await lineOf(gateway, id), name).toMatchObject({ request: id });
  }
  const { items } = (await gateway.api("GET", `/calls?request=${ids.made}`)).body;
  expect(items).toMatchObject([{ tool: "echo", request: ids.made }]);
});
