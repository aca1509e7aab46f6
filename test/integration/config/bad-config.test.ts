/** Servers that the config makes unusable or hides: each is reported with its reason, and the others run. */
import { rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { failedCall, openClient } from "../../support/failed-call.ts";
import { discover, textOf } from "../../support/meta.ts";
import { fixture, temp } from "../../support/temp.ts";
import { until } from "../../support/until.ts";

test("a tool list from the disk cache rejects no call, but the rules of the config do", async () => {
  const folder = temp();
  const script = fileURLToPath(new URL("../../fixture/no-list.mjs", import.meta.url));
  const entry = { command: process.execPath, args: [script, folder.path("unlisted")] };
  folder.writeConfig({ a: { ...entry, tools: { deny: ["bad*"] } } });
  const first = await openClient(folder);
  expect(await failedCall(first, "a", "one")).toMatchObject({ code: "validation_input" });
  await first.close();

  folder.write("unlisted", "");
  const second = await openClient(folder);
  expect((await discover(second, { server: "a" })).tools).toMatchObject([{ tool: "one" }]);
  expect(textOf(await second.mcpCall("a", "one", { b: 1 }))).toBe('one {"b":1}');
  expect(textOf(await second.mcpCall("a", "two"))).toBe("two {}");
  expect(await failedCall(second, "a", "badly")).toMatchObject({ code: "tool_not_found" });
  await second.close();
});

test("a server that fails to list its tools is shown with that reason and is asked again later", async () => {
  const folder = temp();
  const script = fileURLToPath(new URL("../../fixture/no-list.mjs", import.meta.url));
  folder.writeConfig(
    { a: { command: process.execPath, args: [script, folder.path("unlisted")] } },
    { pool: { cooldownMs: 1 } },
  );
  folder.write("unlisted", "");
  const client = await openClient(folder);
  const reason = expect.stringMatching(/its tools could not be listed: not today/);
  expect(await discover(client, {})).toMatchObject({ servers: [{ name: "a", connected: true, reason }] });
  expect(await discover(client, { query: "one" })).toMatchObject({
    tools: [],
    unknown: [{ server: "a", reason }],
  });
  expect(textOf(await client.mcpCall("a", "one", { b: 1 }))).toBe('one {"b":1}');
  rmSync(folder.path("unlisted"));
  const mended = await until(async () => {
    const { tools } = await discover(client, { server: "a" });
    return (tools as unknown[]).length > 0 && tools;
  });
  expect(mended).toMatchObject([{ tool: "one" }]);
  expect(await discover(client, {})).not.toMatchObject({ servers: [{ reason }] });
  await client.close();
});

/** A config entry, and what its reason must match. */
const MALFORMED: Readonly<Record<string, readonly [entry: unknown, reason: RegExp]>> = {
  null: [null, /null/],
  number: [5, /number/],
  text: ["node server.js", /string/],
  list: [[], /list/],
  empty: [{}, /command .* a url .* or openapi/],
  renamed: [{ serverUrl: "http://localhost" }, /rename "serverUrl" to "url"/],
  both: [{ command: "node", url: "http://localhost" }, /both command and url/],
  "no program": [{ command: " " }, /command is empty/],
  "command list": [{ command: ["node", "x"] }, /command is a list/],
  "args text": [{ command: "node", args: "x" }, /args is a string.*list/],
  "args number": [{ command: "node", args: [1] }, /args\[0\] is a number.*quotes/],
  "env number": [{ command: "node", env: { PORT: 1 } }, /env\.PORT is a number/],
  "env list": [{ command: "node", env: [] }, /env is a list/],
  "cwd number": [{ command: "node", cwd: 1 }, /cwd/],
  type: [{ type: "carrier-pigeon", command: "node" }, /carrier-pigeon.*stdio.*http.*sse/],
  mismatch: [{ type: "http", command: "node" }, /http.*command/],
  scheme: [{ url: "ftp://localhost/" }, /web address/],
  "no url": [{ url: "localhost" }, /web address/],
  userinfo: [{ url: "http://me:hush@localhost/" }, /password/],
  header: [{ url: "http://localhost/", headers: { A: "b\nc" } }, /headers\.A/],
  variable: [
    { command: "node", args: [`\${METAMCP_TEST_NO_SUCH}`] },
    /METAMCP_TEST_NO_SUCH is not set.*args\[0\]/,
  ],
  retry: [{ command: "node", retry: "always" }, /retry is "always"/],
  isolation: [{ command: "node", isolation: true }, /isolation/],
  tools: [{ command: "node", tools: "all" }, /tools is a string/],
  disabled: [{ command: "node", disabled: "yes" }, /disabled/],
  metamcp: [{ command: "node" }, /reserved/],
};

test("each malformed config entry is shown with its reason, and the other servers run", async () => {
  const folder = temp();
  const broken = Object.entries(MALFORMED).map(([name, [entry]]) => [name, entry]);
  folder.writeConfig({ ...Object.fromEntries(broken), well: fixture() });
  const client = await openClient(folder, "--log-level", "error");
  const { servers = [] } = await discover(client);
  for (const [name, [, reason]] of Object.entries(MALFORMED)) {
    const shown = servers.find((server) => server.name === name);
    expect(shown, name).toMatchObject({ state: "failed", connected: false, toolCount: 0 });
    expect(shown?.reason, name).toMatch(reason);
  }
  expect(servers).toHaveLength(broken.length + 1);
  const error = await failedCall(client, "both", "echo");
  expect(error).toMatchObject({ code: "server_unavailable", server: "both", retryable: false });
  expect(error["message"]).toMatch(/both command and url.* needs no restart\.$/);
  expect(textOf(await client.mcpCall("well", "echo", { message: "hi" }))).toBe("hi");
  expect(client.stderr).toMatch(/args is a string/);
  expect(client.stderr).not.toContain("hush");
  await client.close();
});

test("a disabled server and a denied tool are neither found nor callable", async () => {
  const folder = temp();
  const journal = folder.journal();
  const tools = { allow: ["e*", "add", "count*"], deny: ["count_*", "env"] };
  folder.writeConfig({
    off: { ...fixture("--journal", journal.file), disabled: true },
    on: { ...fixture("--journal", journal.file), tools },
  });
  const client = await openClient(folder);
  const { servers } = await discover(client);
  expect(servers).toMatchObject([{ name: "on", toolCount: 3 }]);
  expect(await failedCall(client, "off", "echo")).toMatchObject({ code: "server_not_found" });
  for (const tool of ["env", "count_unsafe", "crash"]) {
    const error = await failedCall(client, "on", tool, { key: "k" });
    expect(error).toMatchObject({ code: "tool_not_found" });
    expect(JSON.stringify(error["details"])).not.toContain(tool);
  }
  const found = await discover(client, {
    query: "names of its variables, count what must not be repeated",
    limit: 100,
  });
  const names = found.tools?.map(({ tool }) => tool);
  expect(names).toContain("count");
  for (const denied of ["env", "count_unsafe", "crash"]) expect(names).not.toContain(denied);
  expect(journal.pids()).toHaveLength(1);
  expect(journal.methods()).not.toContain("tools/call");
  await client.close();
});

test("a missing command, folder or script is reported with what to do", async () => {
  const folder = temp();
  folder.writeConfig({
    command: { command: "no-such-command-anywhere" },
    folder: { ...fixture(), cwd: "no-such-folder" },
    script: { command: process.execPath, args: ["no-such-script.mjs"] },
  });
  const client = await openClient(folder, "--log-level", "error");
  const [command, place, script] = await Promise.all(
    ["command", "folder", "script"].map((name) => failedCall(client, name, "echo")),
  );
  expect([command, place, script]).toMatchObject([
    { code: "server_unavailable", retryable: false },
    { code: "server_unavailable", retryable: false },
    // A process that exits may do so for a reason that passes.
    { code: "server_unavailable", retryable: true },
  ]);
  expect(command?.["message"]).toMatch(/"no-such-command-anywhere" was not found.*Install it/);
  expect(place?.["message"]).toMatch(/no-such-folder/);
  expect(script?.["message"]).toMatch(/exited with code 1.*no-such-script/s);
  await client.close();
});
