/**
 * Metrics: who may read them and where, their Prometheus format, and that each metric of the table exists.
 */
import { expect, test } from "vitest";
import { BUCKETS, INSTRUMENTS } from "../../../src/observe/metrics/instruments.ts";
import { readExposition } from "../../support/exposition.ts";
import { freePort } from "../../support/free-port.ts";
import { layeredTeam } from "../../support/layered-team.ts";
import { rawHttp } from "../../support/raw-http.ts";
import { ADMIN_TOKEN, teamClient } from "../../support/team-gateway.ts";
import { until } from "../../support/until.ts";

const text = async (url: string, token?: string) => {
  const answer = await fetch(
    url,
    token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } },
  );
  return { status: answer.status, type: answer.headers.get("content-type"), text: await answer.text() };
};

test("metrics need an administrator, or have their own port, which serves nothing else", async () => {
  const port = await freePort();
  const flags = ["--public-url", "http://gateway.test", "--metrics-port", String(port)];
  const { gateway, api } = await layeredTeam({ flags });
  expect((await text(`${gateway.url}/metrics`)).status).toBe(401);
  const viewer = (await api("POST", "/api-keys", { name: "v", role: "viewer" })).body.key;
  expect((await text(`${gateway.url}/metrics`, viewer)).status).toBe(403);
  const asAdmin = await text(`${gateway.url}/metrics`, ADMIN_TOKEN);
  expect([asAdmin.status, asAdmin.type]).toEqual([200, "text/plain; version=0.0.4; charset=utf-8"]);
  const own = await text(`http://127.0.0.1:${port}/metrics`);
  expect([own.status, own.type]).toEqual([200, asAdmin.type]);
  expect(own.text).toContain("metamcp_build_info{");
  for (const path of ["/", "/api/v1/openapi.json", "/metamcp/aggregate/mcp", "/healthz"])
    expect((await text(`http://127.0.0.1:${port}${path}`)).status).toBe(404);
  // A page of another site could read the port by DNS rebinding, with its own name as Host.
  const withHost = async (host: string) => {
    const request = `GET /metrics HTTP/1.1\r\nhost: ${host}\r\n\r\n`;
    return (await rawHttp(`http://127.0.0.1:${port}`, request, { responses: 1 })).statuses;
  };
  expect(await withHost(`evil.example:${port}`)).toEqual([403]);
  for (const host of ["gateway.test", "10.0.0.7:9000", "[fd00::1]:9000", "metamcp:9000"])
    expect(await withHost(host)).toEqual([200]);
  const admin = await rawHttp(gateway.url, "GET /api/v1/me HTTP/1.1\r\nhost: evil.example\r\n\r\n", {
    responses: 1,
  });
  expect([admin.statuses, admin.text]).toEqual([[403], expect.stringContaining("application/problem+json")]);
});

test("a gateway on a loopback address serves metrics without login", async () => {
  const { gateway } = await layeredTeam();
  expect((await text(`${gateway.url}/metrics`)).status).toBe(200);
});

test("every metric of the table appears with its labels after it was used", async () => {
  const annotations = { readOnlyHint: true };
  const { gateway, api, key, journal } = await layeredTeam({
    namespace: { tools: [{ server: "fix", tool: "echo", annotations }] },
    endpoint: {
      middleware: [
        { use: "filter", deny: ["fix:env"] },
        { use: "rate-limit", requests: 3, per: "1h", by: "tool" },
        { use: "cache", ttlMs: 60_000 },
      ],
    },
  });
  const client = await teamClient(gateway, "aggregate", { key });
  for (let i = 0; i < 4; i++) await client.call("fix__echo", { message: "x" });
  await client.call("fix__is_error");
  await client.call("fix__fail").catch(() => {});
  await client.call("fix__count_safe", { key: "k", crashes: 1 });
  await (await teamClient(gateway, "meta", { key })).tools();
  await api("POST", "/login", { email: "nobody@example.org", password: "no such account" });
  for (const path of ["/metamcp/meta/mcp", "/metamcp/never/mcp", "/api/v1/endpoints"])
    await fetch(`${gateway.url}${path}`, { headers: { "x-api-key": "wrong" } });
  const { items: sessions } = (await api("GET", "/sessions")).body;
  await api("DELETE", `/sessions/${sessions[0].id}`);
  await until(() => journal.pids().length > 1);
  const samples = await until(async () => {
    const found = readExposition((await text(`${gateway.url}/metrics`)).text);
    return found.some(({ name }) => name.startsWith("mcp_server_session_duration")) ? found : undefined;
  });
  const ofKind = (name: string) => samples.filter((sample) => sample.name.startsWith(name));
  for (const { name, kind, labels } of Object.values(INSTRUMENTS)) {
    const found = ofKind(kind === "histogram" ? `${name}_bucket` : name);
    expect([name, found.length > 0]).toEqual([name, true]);
    const known: readonly string[] = kind === "histogram" ? [...labels, "le"] : labels;
    for (const { labels: given } of found)
      expect(Object.keys(given).filter((label) => !known.includes(label))).toEqual([]);
  }
  const value = (name: string, labels: object) => {
    const found = samples.filter(
      (sample) =>
        sample.name === name && Object.entries(labels).every(([label, is]) => sample.labels[label] === is),
    );
    return found.reduce((sum, sample) => sum + sample.value, 0);
  };
  expect(value("metamcp_refusals_total", { layer: "rate-limit" })).toBe(1);
  expect(value("metamcp_cache_hits_total", { server: "fix" })).toBe(2);
  expect(value("metamcp_retries_total", { server: "fix" })).toBe(1);
  expect(value("metamcp_restarts_total", { server: "fix" })).toBe(1);
  expect(
    value("mcp_server_operation_duration_seconds_count", {
      gen_ai_tool_name: "is_error",
      error_type: "tool_error",
    }),
  ).toBe(1);
  expect(
    value("mcp_server_operation_duration_seconds_count", {
      gen_ai_tool_name: "echo",
      error_type: "rate_limited",
    }),
  ).toBe(1);
  expect(value("mcp_client_operation_duration_seconds_count", { gen_ai_tool_name: "echo" })).toBe(1);
  expect(value("metamcp_tokens_saved", { endpoint: "meta" })).toBeGreaterThan(0);
  expect(value("metamcp_logins_total", { by: "password", outcome: "refused" })).toBe(1);
  expect(value("metamcp_refused_credentials_total", { by: "key", endpoint: "meta" })).toBe(1);
  // The endpoints that do not exist are counted with the admin API, so that nobody can choose labels.
  expect(value("metamcp_refused_credentials_total", { by: "key" })).toBe(2);
  const buckets = ofKind("mcp_server_session_duration_seconds_bucket").map(({ labels }) => labels["le"]);
  expect(buckets).toEqual([...BUCKETS.map(String), "+Inf"]);
});
