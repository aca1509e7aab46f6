/** Records of changes: each names what it was about, also what is gone afterwards and what was not allowed. */
import { expect, test } from "vitest";
import { layeredTeam } from "../support/layered-team.ts";
import { auditRecords } from "../support/records.ts";

test("every change names its object, by the kind that changes of the config give it", async () => {
  const { gateway, api } = await layeredTeam();
  const server = (await api("GET", "/mcp-servers/fix")).body;
  const user = (await api("POST", "/users", { email: "ada@example.org", role: "viewer" })).body;
  const key = (await api("POST", "/api-keys", { name: "reads", role: "viewer" })).body;
  await api("POST", "/mcp-servers/fix/connect");
  await api("POST", "/mcp-servers/fix/tools/echo/call", { args: { message: "x" } });
  const refused = await fetch(`${gateway.url}/api/v1/mcp-servers/fix/connect`, {
    method: "POST",
    headers: { authorization: `Bearer ${key.key}` },
  });
  expect(refused.status).toBe(403);
  await api("PATCH", "/users/ada@example.org", { role: "member" });
  await api("DELETE", `/users/${user.uuid}`);
  await api("DELETE", `/api-keys/${key.uuid}`);

  const fix = { kind: "server", uuid: server.uuid, name: "fix" };
  const ada = { kind: "users", uuid: user.uuid, name: "ada@example.org" };
  const reads = { kind: "api-keys", uuid: key.uuid, name: "reads" };
  await auditRecords(gateway, "&action=delete&object=reads");
  const records = (await auditRecords(gateway, "&kind=admin", 8)).slice(-8);
  expect(records.map(({ action, outcome, object }) => [action, outcome, object])).toEqual([
    ["create", "ok", ada],
    ["create", "ok", reads],
    ["connect", "ok", fix],
    ["call", "ok", fix],
    ["connect", "refused", fix],
    ["update", "ok", ada],
    ["delete", "ok", ada],
    ["delete", "ok", reads],
  ]);
});
