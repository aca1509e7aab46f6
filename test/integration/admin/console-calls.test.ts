/** The recent calls for the traffic page: filtered, in detail, exported, and repeated. */

import { expect, test } from "vitest";
import { adminFetch } from "../../support/admin-answers.ts";
import { layeredTeam } from "../../support/layered-team.ts";
import { ADMIN_TOKEN, type TeamGateway, teamClient } from "../../support/team-gateway.ts";
import { teamPerson } from "../../support/team-person.ts";

const READS = { annotations: { readOnlyHint: true } };

async function lines({ url }: TeamGateway, path: string) {
  const answer = await adminFetch(`${url}/api/v1${path}`, {
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
  });
  const text = await answer.text();
  return {
    type: answer.headers.get("content-type"),
    file: answer.headers.get("content-disposition"),
    rows: text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line)),
  };
}

test("calls can be filtered, read in detail and exported as lines", async () => {
  const { gateway, api, key } = await layeredTeam();
  const ada = await teamPerson(gateway, "viewer");
  const client = await teamClient(gateway, "aggregate", { key });
  await client.call("fix__echo", { message: "hello" });
  await client.call("fix__add", { a: 1, b: 2 });
  await client.call("fix__add", { a: "no" });
  const meta = await teamClient(gateway, "meta", { key });
  await meta.call("mcp_call", { server: "fix", tool: "pid" });
  const found = async (query: string) =>
    (await api("GET", `/calls?${query}`)).body.items.map(({ tool }: { tool: string }) => tool);
  expect(await found("endpoint=meta")).toEqual(["pid"]);
  expect(await found("server=fix&tool=add")).toEqual(["add", "add"]);
  expect(await found("outcome=refused")).toEqual(["add"]);
  expect(await found("code=validation_input")).toEqual(["add"]);
  expect(await found("principal=a+key&tool=echo")).toEqual(["echo"]);
  expect(await found("principal=nobody")).toEqual([]);
  expect(await found("q=ECHO")).toEqual(["echo"]);
  expect(await found("q=validation")).toEqual(["add"]);
  const { body } = await api("GET", "/calls?limit=1&tool=add");
  expect((await api("GET", `/calls?tool=add&cursor=${body.nextCursor}`)).body.items).toHaveLength(1);

  const [echo] = (await api("GET", "/calls?tool=echo")).body.items;
  expect((await api("GET", `/calls/${echo.id}`)).body).toEqual(echo);
  expect(echo.arguments).toEqual({ message: "hello" });
  expect((await ada.ask("GET", `/calls/${echo.id}`)).body["arguments"]).toBeUndefined();
  for (const id of ["999999", "x"]) expect((await api("GET", `/calls/${id}`)).status).toBe(404);

  const calls = await lines(gateway, "/calls?format=jsonl&endpoint=aggregate");
  expect(calls).toMatchObject({ type: "application/x-ndjson", file: 'attachment; filename="calls.jsonl"' });
  expect(calls.rows.map(({ tool }) => tool)).toEqual(["add", "add", "echo"]);
  const audit = await lines(gateway, "/audit?format=jsonl&kind=admin");
  expect(audit.rows.length).toBeGreaterThan(4);
  expect(audit.rows.every(({ kind }) => kind === "admin")).toBe(true);
});

test("an administrator can repeat a call of a read-only tool in the name of its caller", async () => {
  const { gateway, api, reached } = await layeredTeam({
    namespace: {
      tools: [
        { server: "fix", tool: "echo", name: "say", args: { message: { fixed: "always this" } }, ...READS },
        { server: "fix", tool: "add", ...READS },
      ],
    },
  });
  const root = await teamPerson(gateway, "admin");
  const ada = await teamPerson(gateway, "member", { email: "ada@example.org" });
  const made = async (tool: string, args: object = {}) => {
    const tried = await ada.watch("POST", "/endpoints/aggregate/try", { server: "fix", tool, args });
    return (await tried.next("result", "error")).calls.at(-1);
  };
  const echo = await made("say");
  const add = await made("add", { a: 1, b: 2 });
  const count = await made("count", { key: "k" });
  const again = await root.watch("POST", `/calls/${add.id}/replay`);
  const { result, calls } = await again.next("result");
  expect(result.structuredContent).toEqual({ sum: 3 });
  expect(calls).toMatchObject([
    { tool: "add", principal: { id: ada.uuid, actor: { id: root.uuid } }, outcome: "ok" },
  ]);
  expect(reached("add")).toBe(2);
  const fixed = await root.watch("POST", `/calls/${echo.id}/replay`);
  expect((await fixed.next("result")).result.content).toEqual([{ type: "text", text: "always this" }]);

  const writes = await root.watch("POST", `/calls/${count.id}/replay`);
  expect(writes).toMatchObject({ status: 409, problem: { detail: expect.stringContaining("only read") } });
  expect(reached("count")).toBe(1);
  expect((await ada.watch("POST", `/calls/${add.id}/replay`)).status).toBe(403);
  expect((await root.watch("POST", "/calls/999999/replay")).status).toBe(404);
  await api("DELETE", `/users/${ada.uuid}`);
  expect((await root.watch("POST", `/calls/${add.id}/replay`)).status).toBe(404);
});

test("a revision shows each field before and after with masked secrets, and settings only to administrators", async () => {
  const { gateway, api } = await layeredTeam();
  const viewer = await teamPerson(gateway, "viewer");
  await api("PATCH", "/mcp-servers/fix", { description: "ours", env: { TOKEN: "a-secret-value" } });
  const [{ n }] = (await api("GET", "/revisions?limit=1")).body.items;
  const { body } = await viewer.ask("GET", `/revisions/${n}`);
  expect(body["diff"]).toMatchObject([
    {
      op: "update",
      kind: "server",
      fields: expect.arrayContaining(["description", "env"]),
      before: { description: "" },
      after: { description: "ours", env: { TOKEN: "********" } },
    },
  ]);
  expect(JSON.stringify(body)).not.toContain("a-secret-value");
  await api("PATCH", "/settings", { registration: "closed" });
  const settings = (await api("GET", `/revisions/${n + 1}`)).body.diff[0];
  expect(settings.after).toMatchObject({ registration: "closed" });
  const seen = (await viewer.ask("GET", `/revisions/${n + 1}`)).body["diff"] as unknown as object[];
  expect(seen[0]).not.toHaveProperty("after");
  await api("DELETE", "/endpoints/meta");
  const { body: gone } = await api("GET", `/revisions/${n + 2}`);
  expect(gone.diff).toMatchObject([{ op: "delete", kind: "endpoint", before: { name: "meta" } }]);
});

test("a session lists the servers it is connected to", async () => {
  const { gateway, api, key } = await layeredTeam();
  const client = await teamClient(gateway, "aggregate", { key });
  const idle = await teamClient(gateway, "meta", { key });
  await client.call("fix__echo", { message: "hello" });
  const { body } = await api("GET", "/sessions");
  const of = (name: string) =>
    body.items.find(({ endpoint }: { endpoint: { name: string } }) => endpoint.name === name);
  expect(of("aggregate").servers).toMatchObject([{ name: "fix" }]);
  expect(of("meta").servers).toEqual([]);
  await idle.close();
});
