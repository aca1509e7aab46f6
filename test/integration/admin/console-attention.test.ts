/** `GET /attention`: the current problems of the gateway in one request, filtered by role. */
import { expect, test } from "vitest";
import { teamGateway } from "../../support/team-gateway.ts";
import { teamPerson } from "../../support/team-person.ts";
import { fixture, temp } from "../../support/temp.ts";

type Item = Readonly<Record<string, unknown>> & { readonly kind: string };

test("an empty gateway has no problems", async () => {
  const { api } = await teamGateway(temp());
  const { body } = await api("GET", "/attention");
  expect(body).toEqual({
    at: expect.any(String),
    items: [],
    counts: {
      servers: { all: 0, connected: 0, failed: 0, untried: 0, disabled: 0 },
      tools: 0,
      namespaces: 0,
      endpoints: 0,
      sessions: 0,
      keys: 0,
    },
  });
});

test("problems are listed with the worst first, and each role sees the ones that concern it", async () => {
  const origin = "https://mcp.example.org";
  const gateway = await teamGateway(temp(), { flags: ["--public-url", origin] });
  const { api } = gateway;
  await api("POST", "/mcp-servers", { name: "good", ...fixture() });
  await api("POST", "/mcp-servers", { name: "down", command: "/nowhere/to/be/found" });
  await api("POST", "/mcp-servers", { name: "half", command: "x", env: { A: `$${"{NOT_SET_ANYWHERE}"}` } });
  await api("POST", "/mcp-servers", { name: "off", command: "/nowhere", disabled: true });
  const leak = "aB3xY7qLw9TzP4mN8kVcR2";
  await api("POST", "/mcp-servers", {
    name: "leaky",
    command: "x",
    args: ["--account", leak],
    disabled: true,
  });
  await api("POST", "/mcp-servers/good/connect");
  await api("POST", "/mcp-servers/down/connect");
  const policy = { use: "policy", rules: [{ effect: "approve", tools: ["good:echo"] }, { effect: "allow" }] };
  await api("POST", "/namespaces", { name: "team", servers: [{ server: "good" }] });
  await api("POST", "/endpoints", { name: "open", namespaces: ["team"], access: { public: true } });
  await api("POST", "/endpoints", { name: "team", namespaces: ["team"], middleware: [policy] });
  const member = await teamPerson(gateway, "member", { origin });
  const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
  await api("POST", "/api-keys", { name: "ends", endpoints: "all", expiresAt: inDays(1) });
  await api("POST", "/api-keys", { name: "stays", endpoints: "all", expiresAt: "2099-01-01T00:00:00Z" });
  await member.ask("POST", "/api-keys", { name: "mine", endpoints: "all", expiresAt: inDays(2) });
  const waiting = await member.watch("POST", "/endpoints/team/try", {
    server: "good",
    tool: "echo",
    args: { message: "may I?" },
  });
  await waiting.next("progress");

  const { body } = await api("GET", "/attention");
  const summaries = (items: readonly Item[]) =>
    items.map((item) => [item.kind, (item["object"] as { name?: string } | undefined)?.name]);
  expect(summaries(body.items)).toEqual([
    ["server.failed", "down"],
    ["server.misconfigured", "half"],
    ["server.secret", "leaky"],
    ["endpoint.public", "open"],
    ["approvals.waiting", undefined],
    ["key.expiring", "ends"],
    ["key.expiring", "mine"],
  ]);
  expect(body.items[0]).toMatchObject({
    severity: "error",
    object: { kind: "server", name: "down" },
    reason: expect.stringContaining("/nowhere/to/be/found"),
    since: expect.any(String),
  });
  expect(body.items[1].reason).toContain("NOT_SET_ANYWHERE");
  expect(body.items[2]).toMatchObject({ severity: "warning", field: "args/1" });
  expect(JSON.stringify(body)).not.toContain(leak);
  expect(body.counts).toMatchObject({
    servers: { all: 5, connected: 1, failed: 2, disabled: 2 },
    namespaces: 1,
    endpoints: 2,
    sessions: 1,
    keys: 3,
  });
  const viewer = await teamPerson(gateway, "viewer", { origin });
  const seen = await viewer.ask("GET", "/attention");
  expect(summaries(seen.body["items"] as unknown as Item[])).toEqual([
    ["server.failed", "down"],
    ["server.misconfigured", "half"],
    ["server.secret", "leaky"],
    ["endpoint.public", "open"],
  ]);
  const own = await member.ask("GET", "/attention");
  expect(summaries(own.body["items"] as unknown as Item[])).toEqual([["key.expiring", "mine"]]);
  expect(own.body["counts"]).toBeUndefined();
});
