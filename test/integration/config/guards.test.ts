/**
 * A misspelled rule must never mean that there is no rule. The entry is unusable, and every command and
 * surface says why.
 */
import { expect, test } from "vitest";
import { metamcp } from "../../support/command.ts";
import { gateway } from "../../support/gateway.ts";
import { discover, failureOf } from "../../support/meta.ts";
import { fixture, temp } from "../../support/temp.ts";

const REASON = /"tools\.denny" is unknown: write "deny"/;

test("no command and no surface runs a tool of an entry with misspelled rules", async () => {
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
  expect(await discover(client, { query: "add two numbers" })).toMatchObject({
    tools: expect.arrayContaining([expect.objectContaining({ server: "b", tool: "add" })]),
    unusable: "a; mcp_discover {} says why",
  });
  expect(await discover(client, { query: "add two numbers", server: "b" })).not.toHaveProperty("unusable");
  const refused = failureOf(await client.mcpCall("a", "add", { a: 1, b: 2 }));
  expect(refused).toMatchObject({ message: expect.stringMatching(REASON) });
  const code = await client.tool("mcp_execute", { code: 'await servers.a.call("add", {a: 1, b: 2})' });
  expect(code["isError"]).toBe(true);
  await client.close();

  const config = ["--config", folder.config];
  folder.write("call.js", 'await servers.a.call("add", { a: 1, b: 2 })');
  for (const args of [
    ["call", "a", "add", "a=1", "b=2"],
    ["describe", "a", "add"],
    ["doctor", "a"],
    ["exec", "call.js"],
  ]) {
    const { code: exit, out, err } = await metamcp(folder, [...args, ...config]);
    expect([exit, args[0]]).toEqual([1, args[0]]);
    expect(`${out}${err}`, args.join(" ")).toMatch(REASON);
  }
  for (const args of [["list"], ["search", "add"]])
    expect((await metamcp(folder, [...args, ...config])).out).toMatch(REASON);
  expect(journal.events("start")).toEqual([]);
});

test("a search without usable servers says why nothing is found", async () => {
  const folder = temp();
  folder.writeConfig({ a: { ...fixture(), tools: { denny: ["add"] } } });
  const { out } = await metamcp(folder, ["search", "add", "--config", folder.config]);
  expect(out).toMatch(/^No matching tool\.\n! a cannot be used: /);
  expect(out).not.toContain("No servers are configured");
});

test("an empty allow list allows no tool", async () => {
  const folder = temp();
  folder.writeConfig({ a: { ...fixture(), tools: { allow: [] } } });
  const client = gateway(folder);
  await client.initialize();
  expect(failureOf(await client.mcpCall("a", "add", { a: 1, b: 2 }))).toMatchObject({
    code: "tool_not_found",
  });
  await client.close();
});
