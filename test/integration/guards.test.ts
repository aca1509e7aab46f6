/** A misspelt guard must never mean no guard: the entry is unusable, with the reason, whatever way it is asked for. */
import { expect, test } from "vitest";
import { metamcp } from "../support/command.ts";
import { gateway } from "../support/gateway.ts";
import { discover, failureOf } from "../support/meta.ts";
import { fixture, temp } from "../support/temp.ts";

const REASON = /"tools\.denny" is unknown: write "deny"/;

test("no command and no surface runs a tool of an entry whose rules are misspelt", async () => {
  const folder = temp();
  const journal = folder.journal();
  const entry = fixture("--journal", journal.file);
  folder.writeConfig({ a: { ...entry, tools: { denny: ["add"] } }, b: fixture() });

  const client = gateway(folder);
  await client.initialize();
  const { servers } = await discover(client);
  expect(servers).toContainEqual(
    expect.objectContaining({ name: "a", state: "failed", reason: expect.stringMatching(REASON) }),
  );
  const refused = failureOf(await client.mcpCall("a", "add", { a: 1, b: 2 }));
  expect(refused).toMatchObject({ message: expect.stringMatching(REASON) });
  const code = await client.tool("mcp_execute", { code: 'await servers.a.call("add", {a: 1, b: 2})' });
  expect(code["isError"]).toBe(true);
  await client.close();

  const config = ["--config", folder.config];
  for (const args of [
    ["call", "a", "add", "a=1", "b=2"],
    ["describe", "a", "add"],
    ["doctor", "a"],
    ["exec", "--code", 'await servers.a.call("add", {a: 1, b: 2})'],
  ]) {
    const { code: exit, out, err } = await metamcp(folder, [...args, ...config]);
    expect([exit, args[0]]).not.toEqual([0, args[0]]);
    expect(`${out}${err}`, args.join(" ")).toMatch(args[0] === "exec" ? /./ : REASON);
  }
  expect((await metamcp(folder, ["list", ...config])).out).toMatch(REASON);
  expect(journal.events("start")).toEqual([]);
});

test("an allow list that is empty allows no tool", async () => {
  const folder = temp();
  folder.writeConfig({ a: { ...fixture(), tools: { allow: [] } } });
  const client = gateway(folder);
  await client.initialize();
  expect(failureOf(await client.mcpCall("a", "add", { a: 1, b: 2 }))).toMatchObject({
    code: "tool_not_found",
  });
  await client.close();
});
