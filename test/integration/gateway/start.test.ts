/** `metamcp serve`: its start, invalid settings, and the start after a kill. */
import { existsSync, mkdirSync } from "node:fs";
import { relative } from "node:path";
import { expect, test } from "vitest";
import { metamcp } from "../../support/command.ts";
import { alive } from "../../support/processes.ts";
import { type TeamGateway, teamClient, teamGateway } from "../../support/team-gateway.ts";
import { teamProcess } from "../../support/team-process.ts";
import { fixture, temp } from "../../support/temp.ts";
import { until } from "../../support/until.ts";

const DOCUMENT = { version: 1, servers: {}, namespaces: {}, endpoints: { docs: { namespaces: [] } } };

test("--import puts the servers of a config file into the endpoint default and keeps existing servers", async () => {
  const folder = temp();
  const config = folder.writeConfig({ fix: { ...fixture(), env: { PASSWORD: "a-secret-of-the-file" } } });
  const first = await teamGateway(folder, { flags: ["--import", config] });
  const [server] = (await first.api("GET", "/mcp-servers")).body.items;
  expect(server).toMatchObject({ name: "fix", env: { PASSWORD: "********" } });
  const [endpoint] = (await first.api("GET", "/endpoints")).body.items;
  expect(endpoint).toMatchObject({ name: "default", surface: "meta" });
  await first.api("PATCH", `/mcp-servers/${server.uuid}`, { description: "mine now" });
  await first.stop();
  const again = await teamGateway(folder, { flags: ["--import", config] });
  expect((await again.api("GET", "/mcp-servers")).body.items[0].description).toBe("mine now");
  const client = await teamClient(again, "default", { key: await again.key() });
  const args = { names: ["PASSWORD"] };
  expect(await client.call("mcp_call", { server: "fix", tool: "env", args })).toContain(
    "a-secret-of-the-file",
  );
});

test("--import applies the middleware of the file to the new endpoint, or says that it does not", async () => {
  const folder = temp();
  const written = (middleware: readonly object[]) =>
    folder.write("team.json", JSON.stringify({ mcpServers: { fix: fixture() }, middleware }));
  const started = () => teamGateway(folder, { flags: ["--import", folder.path("team.json")] });
  written([{ use: "no-such-layer" }]);
  const refused = await metamcp(folder, ["serve", "--port", "0", "--import", "team.json"]);
  expect([refused.code, refused.err]).toEqual([1, expect.stringMatching(/team\.json.*middleware\/0\/use/)]);

  const allow = [{ use: "policy", rules: [{ effect: "allow", when: 'tool.name == "echo"' }] }];
  written(allow);
  const first = await started();
  const [endpoint] = (await first.api("GET", "/endpoints")).body.items;
  expect(endpoint.middleware).toMatchObject(allow);
  const client = await teamClient(first, "default", { key: await first.key() });
  const call = (tool: string) => client.call("mcp_call", { server: "fix", tool, args: { message: "x" } });
  expect(await call("echo")).toBe("x");
  expect(await call("pid")).toMatch(/forbidden/);
  const inSilence = await first.api("POST", "/mcp-servers/import", { mcpServers: {}, middleware: [] });
  expect(inSilence.body.warnings).toEqual([expect.stringMatching(/^middleware: not imported/)]);
  await first.stop();

  const same = await started();
  await same.stop();
  expect(same.stderr).not.toMatch(/middleware/);
  written([]);
  const other = await started();
  expect((await other.api("GET", "/endpoints")).body.items[0].middleware).toMatchObject(allow);
  expect(other.stderr).toMatch(/team\.json: middleware: not imported, because the endpoint .{1,2}default/);
});

test("an imported server runs in the folder of its file", async () => {
  const folder = temp();
  const { command, args } = fixture();
  mkdirSync(folder.path("team"));
  const [script = "", ...more] = args;
  const entry = { command, args: [relative(folder.path("team"), script), ...more] };
  folder.write("team/mcp.json", JSON.stringify({ mcpServers: { fix: entry } }));
  const gateway = await teamProcess(folder, { flags: ["--import", "team/mcp.json"] });
  const client = await teamClient(gateway, "default", { key: await gateway.key() });
  const call = { server: "fix", tool: "pid", args: {} };
  expect(await client.call("mcp_call", call)).toMatch(/^\d+$/);
});

test("after SIGKILL objects, keys and secrets are restored, and no process is left", async () => {
  const folder = temp();
  const journal = folder.journal();
  const config = folder.writeConfig({ fix: fixture("--journal", journal.file) });
  const first = await teamProcess(folder, { flags: ["--import", config] });
  const key = await first.key();
  const call = { server: "fix", tool: "pid", args: {} };
  await (await teamClient(first, "default", { key })).call("mcp_call", call);
  const objects = async ({ api }: TeamGateway) => (await api("GET", "/config")).body;
  const { createdAt, updatedAt } = (await first.api("PATCH", "/namespaces/default", { description: "a" }))
    .body;
  const before = await objects(first);
  await first.kill("SIGKILL");
  const second = await teamGateway(folder);
  expect(await objects(second)).toEqual(before);
  const namespace = (await second.api("GET", "/namespaces/default")).body;
  expect(namespace).toMatchObject({ createdAt, updatedAt, description: "a" });
  await until(() => journal.pids().every((pid) => !alive(pid)));
  expect(await (await teamClient(second, "default", { key })).call("mcp_call", call)).toMatch(/\d+/);
});

test("invalid settings are rejected with a reason, and the store is not changed", async () => {
  const folder = temp();
  const refused = async (...flags: string[]) => await metamcp(folder, ["serve", "--port", "0", ...flags]);
  expect(await refused("--host", "0.0.0.0")).toMatchObject({
    code: 2,
    err: expect.stringMatching(/--insecure/),
  });
  expect(await refused("--config", "x")).toMatchObject({ code: 2, err: expect.stringMatching(/--import/) });
  expect(await refused("--stdio")).toMatchObject({ code: 2 });
  expect(await refused("--no-auth")).toMatchObject({ code: 2 });
  expect(await refused("--store", "mysql://x")).toMatchObject({
    code: 1,
    err: expect.stringMatching(/postgres/),
  });
  const bad = folder.write("bad.yaml", "version: 1\nservers:\n  - nonsense: [");
  expect(await refused("--apply", bad)).toMatchObject({
    code: 1,
    err: expect.stringMatching(/bad\.yaml.*line 3/),
  });
  const entry = { comand: "x", instances: 0 };
  const wrong = folder.write("wrong.json", JSON.stringify({ ...DOCUMENT, servers: { a: entry } }, null, 2));
  const imported = folder.writeConfig({ fix: fixture() });
  expect(await refused("--import", imported, "--apply", wrong)).toMatchObject({
    code: 1,
    err: expect.stringMatching(/wrong\.json: line 5: .*comand .*\nline 6: .*instances/),
  });
  const good = folder.write("good.json", JSON.stringify(DOCUMENT));
  const gateway = await teamGateway(folder, { flags: ["--apply", good] });
  expect((await gateway.api("GET", "/mcp-servers")).body.items).toEqual([]);
  expect((await gateway.api("GET", "/endpoints")).body.items).toMatchObject([
    { name: "docs", managedBy: "file:good.json" },
  ]);
  expect(await refused()).toMatchObject({ code: 1, err: expect.stringMatching(/another|uses/i) });
});

test("a short admin token is rejected before any file is created", async () => {
  const folder = temp();
  const short = { ...folder, env: { ...folder.env, METAMCP_ADMIN_TOKEN: "too-short" } };
  expect(await metamcp(short, ["serve", "--port", "0"])).toMatchObject({
    code: 2,
    err: expect.stringMatching(/METAMCP_ADMIN_TOKEN.*32/),
  });
  expect(existsSync(folder.home)).toBe(false);
});

test("--drain keeps serving while /readyz answers 503, and --drain-calls is the time for running calls", async () => {
  const folder = temp();
  const config = folder.writeConfig({ fix: fixture() });
  const flags = ["--import", config, "--drain", "1h", "--drain-calls", "1h"];
  const gateway = await teamProcess(folder, { flags });
  const client = await teamClient(gateway, "default", { key: await gateway.key() });
  const echo = { server: "fix", tool: "echo", args: { message: "served" } };
  const ready = async () => (await fetch(`${gateway.url}/readyz`)).status;
  expect(await ready()).toBe(200);
  await client.call("mcp_call", echo);
  const ended = gateway.kill("SIGTERM");
  await until(async () => (await ready()) === 503);
  expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200);
  expect(await client.call("mcp_call", echo)).toBe("served");
  const late = await teamClient(gateway, "default", { key: await gateway.key() });
  // Longer than the default of --drain-calls.
  const slow = late.call("mcp_call", { server: "fix", tool: "sleep", args: { ms: 6_000 } });
  await until(async () =>
    (await gateway.api("GET", "/calls")).body.items.some(({ tool }: { tool: string }) => tool === "sleep"),
  );
  // A second signal ends the drain, but not the time for running calls.
  void gateway.kill("SIGTERM");
  expect(await slow).toBe("slept 6000");
  expect(await ended).toBe(0);
});
