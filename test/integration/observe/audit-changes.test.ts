/**
 * Audit records of changes: each names its object, also if the object was deleted or the change was refused.
 */

import { expect, test } from "vitest";
import { adminFetch } from "../../support/admin-answers.ts";
import { layeredTeam } from "../../support/layered-team.ts";
import { apiClient, cookieIn } from "../../support/people.ts";
import { auditRecords } from "../../support/records.ts";
import { teamGateway } from "../../support/team-gateway.ts";
import { fixture, temp } from "../../support/temp.ts";
import { until } from "../../support/until.ts";

test("every record of a change names its object and its kind", async () => {
  const { gateway, api } = await layeredTeam();
  const server = (await api("GET", "/mcp-servers/fix")).body;
  const user = (await api("POST", "/users", { email: "ada@example.org", role: "viewer" })).body;
  const key = (await api("POST", "/api-keys", { name: "reads", role: "viewer" })).body;
  await api("POST", "/mcp-servers/fix/connect");
  await api("POST", "/mcp-servers/fix/tools/echo/call", { args: { message: "x" } });
  const refused = await adminFetch(`${gateway.url}/api/v1/mcp-servers/fix/connect`, {
    method: "POST",
    headers: { authorization: `Bearer ${key.key}` },
  });
  expect(refused.status).toBe(403);
  const forbidden = await adminFetch(`${gateway.url}/api/v1/namespaces`, {
    method: "POST",
    headers: { authorization: `Bearer ${key.key}` },
  });
  expect(forbidden.status).toBe(403);
  await api("PATCH", "/users/ada@example.org", { role: "member" });
  await api("DELETE", `/users/${user.uuid}`);
  await api("DELETE", `/api-keys/${key.uuid}`);

  const fix = { kind: "server", uuid: server.uuid, name: "fix" };
  const ada = { kind: "user", uuid: user.uuid, name: "ada@example.org" };
  const reads = { kind: "api-key", uuid: key.uuid, name: "reads" };
  await auditRecords(gateway, "&action=delete&object=reads");
  const records = (await auditRecords(gateway, "&kind=admin", 9)).slice(-9);
  expect(records.map(({ action, outcome, object }) => [action, outcome, object])).toEqual([
    ["create", "ok", ada],
    ["create", "ok", reads],
    ["connect", "ok", fix],
    ["call", "ok", fix],
    ["connect", "refused", fix],
    ["create", "refused", { kind: "namespace" }],
    ["update", "ok", ada],
    ["delete", "ok", ada],
    ["delete", "ok", reads],
  ]);
});

test("changes that people make to their own account have their own actions in the audit log", async () => {
  const gateway = await teamGateway(temp());
  const invited = await gateway.api("POST", "/users", { email: "ada@example.org", role: "member" });
  const code = invited.body.invitation.url.split("/").at(-1);
  const [first, second] = ["correct horse battery", "another horse battery"];
  const accepted = await apiClient(gateway.url)("POST", `/invitations/${code}`, { password: first });
  const ask = apiClient(gateway.url, { cookie: cookieIn(accepted), origin: gateway.url });
  await ask("PUT", "/me/secrets/TOKEN", { value: "one" });
  await ask("PUT", "/me/secrets/TOKEN", { value: "two" });
  await ask("DELETE", "/me/secrets/TOKEN");
  const changed = await ask("PUT", "/me/password", { current: first, password: second });
  expect(changed.status).toBe(200);
  const records = (await auditRecords(gateway, "&kind=admin", 5)).slice(-4);
  const secret = { kind: "secret", name: "TOKEN" };
  const ada = { kind: "user", uuid: invited.body.uuid, name: "ada@example.org" };
  expect(records.map(({ action, object }) => [action, object])).toEqual([
    ["create", secret],
    ["update", secret],
    ["delete", secret],
    ["change-password", ada],
  ]);
});

test("a record names the revision of its own change, although a later change finished earlier", async () => {
  const folder = temp();
  const gateway = await teamGateway(folder);
  const { api } = gateway;
  await api("POST", "/mcp-servers", { name: "fix", ...fixture() });
  const ready = folder.path("ready");
  const document = { version: 1, servers: { fix: fixture("--wait-for", ready) } };
  const applying = api("POST", "/config/apply", { document });
  await until(async () => (await api("GET", "/revisions/2")).status === 200);
  expect((await api("POST", "/namespaces", { name: "meanwhile" })).body.revision).toBe(3);
  folder.write("ready", "");
  expect((await applying).body.revision).toBe(2);
  const records = await auditRecords(gateway, "&kind=admin", 3);
  expect(records).toMatchObject([
    { object: { name: "fix" }, revision: 1 },
    { object: { name: "meanwhile" }, revision: 3 },
    { object: { name: "fix" }, revision: 2 },
  ]);
});
