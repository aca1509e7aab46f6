/** The layers for the pipeline editor, and the profile of the current user. */

import { expect, test } from "vitest";
import { adminFetch } from "../../support/admin-answers.ts";
import { teamGateway } from "../../support/team-gateway.ts";
import { teamPerson } from "../../support/team-person.ts";
import { temp } from "../../support/temp.ts";

interface Layer {
  readonly use: string;
  readonly summary?: string;
  readonly guards: boolean;
  readonly schema: { readonly properties: object; readonly additionalProperties: boolean };
  readonly inside: readonly string[];
}

test("every layer is listed with its summary, options and position", async () => {
  const gateway = await teamGateway(temp());
  const viewer = await teamPerson(gateway, "viewer");
  const { body } = await viewer.ask("GET", "/layers");
  const layers = body["items"] as unknown as readonly Layer[];
  expect(body["places"]).toEqual(["settings", "endpoint", "namespace", "server"]);
  expect(layers.map(({ use }) => use)).toEqual(
    expect.arrayContaining(["filter", "policy", "rate-limit", "redact", "cache", "timeout", "ask", "audit"]),
  );
  for (const { use, summary, schema } of layers) {
    expect([use, summary?.endsWith(".")]).toEqual([use, true]);
    expect(schema).toMatchObject({ type: "object", properties: {}, additionalProperties: false });
  }
  const cache = layers.find(({ use }) => use === "cache");
  expect(cache?.inside).toEqual(expect.arrayContaining(["filter", "policy", "flow"]));
  const guarded = layers.filter(({ guards }) => guards).map(({ use }) => use);
  expect(guarded.toSorted()).toEqual(["audit", "filter", "flow", "policy", "redact"]);
  // Changes are checked against the same order that the answer describes.
  const { api } = gateway;
  await api("POST", "/mcp-servers", { name: "x", command: "x" });
  await api("POST", "/namespaces", { name: "n", servers: [{ server: "x" }] });
  const middleware = [{ use: "cache", ttlMs: 1_000 }, { use: "filter" }];
  expect((await api("POST", "/endpoints", { name: "e", namespaces: ["n"], middleware })).status).toBe(422);
});

test("custom layers are listed too, with the reason if one cannot be used", async () => {
  const folder = temp();
  const summary = "Lets everything pass.";
  folder.write(
    "calm.mjs",
    `export default { summary: "${summary}", schema: { properties: { n: {} } }, compile: () => ({}) };`,
  );
  folder.write(
    "guard.mjs",
    "export default { guards: true, schema: { properties: {} }, compile: () => ({}) };",
  );
  folder.write("broken.mjs", "export default 7;");
  const { api } = await teamGateway(folder, { flags: ["--middleware-dir", folder.path(".")] });
  const { body } = await api("GET", "/layers");
  const of = (use: string) => body.items.find((layer: Layer) => layer.use === use);
  expect(of("./calm.mjs")).toMatchObject({
    summary,
    guards: true,
    schema: { properties: { n: {} } },
    inside: [],
  });
  expect(of("./broken.mjs").fault).toContain("default export");
  expect(of("cache").inside).toContain("./guard.mjs");
});

test("GET /me returns the account, its permitted actions and the address of the gateway", async () => {
  const gateway = await teamGateway(temp());
  const member = await teamPerson(gateway, "member");
  const { body } = await member.ask("GET", "/me");
  expect(body).toMatchObject({
    kind: "account",
    role: "member",
    actions: expect.arrayContaining(["endpoints.use", "endpoints.try", "keys.write"]),
    gateway: { url: gateway.url, version: expect.stringMatching(/^\d+\.\d+/) },
  });
  expect(body["actions"]).not.toContain("objects.read");
  const { body: token } = await gateway.api("GET", "/me");
  expect(token).toMatchObject({ kind: "token", role: "admin", actions: expect.arrayContaining(["people"]) });
  expect(token.account).toBeUndefined();
  const login = await adminFetch(`${gateway.url}/api/v1/login`);
  expect(await login.json()).toEqual({ oidc: false, passwords: true, setup: false });
});
