/** The access log: one line per HTTP request, with an id that the client also gets. */
import { expect, test } from "vitest";
import { HEADERS, httpGateway } from "../support/http-gateway.ts";
import { teamGateway } from "../support/team-gateway.ts";
import { temp } from "../support/temp.ts";
import { until } from "../support/until.ts";

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
