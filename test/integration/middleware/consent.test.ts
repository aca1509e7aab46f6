// biome-ignore-all lint/suspicious/noTemplateCurlyInString: configs hold them
/**
 * The `.mcp.json` of a folder starts no server and connects to none until the user has allowed it, for every
 * command and client.
 */
import { mkdirSync, readFileSync, renameSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { metamcp } from "../../support/command.ts";
import { CLIENTS, call, open } from "../../support/eras.ts";
import { gateway } from "../../support/gateway.ts";
import { discover, failureOf, type ShownServer, textOf } from "../../support/meta.ts";
import { noTerminal, PseudoTerminal } from "../../support/pseudo-terminal.ts";
import { RawClient } from "../../support/raw-client.ts";
import { fixture, ROOT, type Temp, temp, withoutConfigVariable } from "../../support/temp.ts";
import { until } from "../../support/until.ts";

const NOT_YET = /is not allowed yet; run "metamcp allow"/;
const CHANGED = /runs or connects to something that you have not allowed yet; run "metamcp allow"/;

/** A folder whose config is found, not named. */
const folderWithFoundConfig = (): Temp => withoutConfigVariable(temp());

/** Starts the gateway in another folder than that of the config. */
function startedIn(cwd: string, folder: Temp): RawClient {
  return new RawClient(process.execPath, { args: [join(ROOT, "dist/metamcp.js")], cwd, env: folder.env });
}

async function shown(client: RawClient, name: string): Promise<ShownServer> {
  const { servers = [] } = await discover(client);
  const found = servers.find((server) => server.name === name);
  if (!found) throw new Error(`${name} is not shown`);
  return found;
}

/** An HTTP server that counts its requests. */
async function countingServer(): Promise<{ url: string; calls: () => number }> {
  let calls = 0;
  const server = createServer((_request, response) => {
    calls += 1;
    response.statusCode = 404;
    response.end();
  }).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once("listening", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, calls: () => calls };
}

test("no command starts or contacts a server of a found config, and every server shows the reason", async () => {
  const folder = folderWithFoundConfig();
  const journal = folder.journal();
  const { url, calls } = await countingServer();
  folder.writeConfig(
    { a: fixture("--journal", journal.file), far: { url } },
    { embedder: { url, model: "m", keyEnv: "HOME" } },
  );
  const client = gateway(folder);
  await client.initialize();
  const { servers = [] } = await discover(client);
  expect(servers.map(({ name, state }) => [name, state])).toEqual([
    ["a", "failed"],
    ["far", "failed"],
  ]);
  for (const { reason } of servers) expect(reason).toMatch(NOT_YET);
  expect(failureOf(await client.mcpCall("a", "echo", { message: "hi" })).message).toMatch(NOT_YET);
  await discover(client, { query: "echo a message" });
  await client.close();
  folder.write("call.js", 'await servers.a.call("echo", { message: "hi" })');
  for (const args of [
    ["doctor"],
    ["call", "a", "echo", "message=hi"],
    ["search", "echo a message"],
    ["describe", "a", "echo"],
    ["exec", "call.js"],
    ["tools"],
    ["list"],
    ["approve", "a"],
    ["auth", "far"],
  ]) {
    const { code, out, err } = await metamcp(folder, args);
    expect(code, `${args[0]}: a usage error would prove nothing`).not.toBe(2);
    if (["list", "doctor", "call", "exec"].includes(args[0] ?? ""))
      expect(`${out}${err}`, args[0]).toMatch(NOT_YET);
  }
  expect(journal.pids()).toEqual([]);
  expect(calls()).toBe(0);
});

test("a config named by flag or variable, or in METAMCP_HOME, needs no consent", async () => {
  const folder = folderWithFoundConfig();
  folder.writeConfig({ a: fixture() });
  const flag = await metamcp(folder, ["call", "a", "echo", "message=hi", "--config", ".mcp.json"]);
  expect(flag.out).toBe("hi\n");
  const env = { ...folder.env, METAMCP_CONFIG: ".mcp.json" };
  expect((await metamcp({ ...folder, env }, ["call", "a", "echo", "message=hi"])).out).toBe("hi\n");
  renameSync(folder.config, join(folder.home, "mcp.json"));
  expect((await metamcp(folder, ["call", "a", "echo", "message=hi"])).out).toBe("hi\n");
});

test("allow shows what would run, stores the consent, and a running gateway picks it up", async () => {
  const folder = folderWithFoundConfig();
  const journal = folder.journal();
  const entry = {
    ...fixture("--journal", journal.file),
    env: { NODE_OPTIONS: "--title=x y", GREETING: "good day", TOKEN: "hush-hush-1" },
  };
  folder.writeConfig({
    a: { ...entry, inheritEnv: true },
    far: { url: "https://far.example/mcp", headers: { X: "${HOME}" } },
  });
  const client = gateway(folder);
  await client.initialize();
  expect((await shown(client, "a")).reason).toMatch(NOT_YET);

  const asked = await metamcp(folder, ["allow"]);
  expect(asked.code).toBe(2);
  for (const part of [
    fixture().args[0] ?? "",
    "NODE_OPTIONS='--title=x y'",
    "GREETING=[secret]",
    "TOKEN=[secret]",
    "your whole environment",
    "https://far.example/mcp",
    "with the values of your variables HOME",
    "metamcp allow --yes",
  ])
    expect(asked.out).toContain(part);
  expect((await shown(client, "a")).reason).toMatch(NOT_YET);

  expect(await metamcp(folder, ["allow", "--yes"])).toMatchObject({ code: 0 });
  const record = join(folder.home, "allowed.json");
  expect(statSync(record).mode & 0o777).toBe(0o600);
  expect(readFileSync(record, "utf8")).not.toContain("hush-hush");
  await until(async () => (await shown(client, "a")).state !== "failed");
  expect(textOf(await client.mcpCall("a", "echo", { message: "hi" }))).toBe("hi");
  expect(journal.pids()).toHaveLength(1);
  await client.close();
  expect((await metamcp(folder, ["allow"])).out).toMatch(/already allowed/);
});

test("a consent stays valid for changes of other settings, but not if a command or address changes or is added", async () => {
  const folder = folderWithFoundConfig();
  const a = fixture();
  folder.writeConfig({ a });
  await metamcp(folder, ["allow", "--yes"]);
  const client = gateway(folder);
  await client.initialize();
  const stateOf = async (): Promise<string> => {
    const { reason, state } = await shown(client, "a");
    return reason ?? state;
  };
  expect(textOf(await client.mcpCall("a", "echo", { message: "hi" }))).toBe("hi");

  folder.writeConfig({
    a: { ...a, timeoutMs: 5_000, tools: { deny: ["add"] } },
    b: { ...fixture(), disabled: true },
  });
  await until(async () => failureCode(await client.mcpCall("a", "add", { a: 1, b: 2 })) === "tool_not_found");
  expect(textOf(await client.mcpCall("a", "echo", { message: "hi" }))).toBe("hi");

  for (const servers of [
    { a: { ...a, args: [...a.args, "--x"] } },
    { a: { ...a, env: { NODE_OPTIONS: "--require ./x.js" } } },
    { a: { ...a, cwd: "/" } },
    { a: { ...a, inheritEnv: true } },
    { a, b: fixture("--x") },
    { a, b: { url: "https://far.example/mcp" } },
  ]) {
    folder.writeConfig(servers);
    await until(async () => CHANGED.test(await stateOf()), { what: JSON.stringify(servers) });
    folder.writeConfig({ a });
    await until(async () => !CHANGED.test(await stateOf()));
  }
  folder.writeConfig({ a }, { embedder: { url: "https://far.example/", model: "m" } });
  await until(async () => CHANGED.test(await stateOf()));
  await client.close();
});

function failureCode(result: Record<string, unknown>): string | undefined {
  return result["isError"] ? failureOf(result).code : undefined;
}

test("a consent belongs to the real path of the folder; the same file in another folder needs its own", async () => {
  const folder = folderWithFoundConfig();
  folder.writeConfig({ a: fixture() });
  await metamcp(folder, ["allow", "--yes"]);
  symlinkSync(folder.path("."), join(folder.folder, "link"));
  const through = startedIn(join(folder.folder, "link"), folder);
  await through.initialize();
  expect(textOf(await through.mcpCall("a", "echo", { message: "hi" }))).toBe("hi");
  await through.close();
  const other = folder.path("other");
  mkdirSync(other);
  symlinkSync(folder.config, join(other, ".mcp.json"));
  const elsewhere = startedIn(other, folder);
  await elsewhere.initialize();
  expect((await shown(elsewhere, "a")).reason).toMatch(NOT_YET);
  await elsewhere.close();
});

test("a damaged consent file allows nothing and is not overwritten", async () => {
  const folder = folderWithFoundConfig();
  folder.writeConfig({ a: fixture() });
  await metamcp(folder, ["allow", "--yes"]);
  writeFileSync(join(folder.home, "allowed.json"), "{");
  expect((await metamcp(folder, ["list"])).out).toMatch(/cannot be read/);
  expect((await metamcp(folder, ["allow", "--yes"])).err).toMatch(/allowed\.json: it is damaged/);
  expect(readFileSync(join(folder.home, "allowed.json"), "utf8")).toBe("{");
});

test("folders that are allowed at the same time are all stored", async () => {
  const folder = folderWithFoundConfig();
  const places = ["p", "q", "r"].map((name) => {
    const place = { ...folder, path: () => folder.path(name) };
    mkdirSync(place.path());
    writeFileSync(join(place.path(), ".mcp.json"), JSON.stringify({ mcpServers: { a: fixture() } }));
    return place;
  });
  await Promise.all(places.map((place) => metamcp(place, ["allow", "--yes"])));
  for (const place of places) expect((await metamcp(place, ["list"])).out).not.toMatch(NOT_YET);
});

test.each(CLIENTS)("a %s client that can elicit asks once, at the first use", async (kind) => {
  const folder = folderWithFoundConfig();
  const journal = folder.journal();
  folder.writeConfig({ a: fixture("--journal", journal.file) });
  const questions: string[] = [];
  const answer = ({ params }: { params?: Record<string, unknown> }) => {
    questions.push(String(params?.["message"]));
    expect(journal.pids()).toEqual([]);
    return { action: "accept", content: {} };
  };
  const driver = await open(kind, folder, { elicitation: {} });
  const first = await call(driver, "a", "echo", { args: { message: "hi" }, answer });
  expect(textOf(first.result ?? {})).toBe("hi");
  expect(questions).toEqual([expect.stringContaining(fixture().args[0] ?? "")]);
  const second = await call(driver, "a", "echo", { args: { message: "again" }, answer });
  expect([textOf(second.result ?? {}), questions.length]).toEqual(["again", 1]);
  await driver.close();
  expect((await metamcp(folder, ["call", "a", "echo", "message=hi"])).out).toBe("hi\n");
});

test("a refusal is not asked again, and no server starts", async () => {
  const folder = folderWithFoundConfig();
  const journal = folder.journal();
  folder.writeConfig({ a: fixture("--journal", journal.file) });
  const client = gateway(folder);
  client.reply = () => ({ result: { action: "decline" } });
  await client.initialize({ elicitation: {} });
  for (let turn = 0; turn < 3; turn++)
    expect(failureOf(await client.mcpCall("a", "echo", { message: "hi" })).message).toMatch(NOT_YET);
  expect(client.requests).toHaveLength(1);
  expect(journal.pids()).toEqual([]);
  await client.close();
});

test("the aggregate surface asks when tools are listed, and lists the tools afterwards", async () => {
  const folder = folderWithFoundConfig();
  folder.writeConfig({ a: fixture() });
  const client = gateway(folder, { flags: ["--surface", "aggregate"] });
  client.reply = () => ({ result: { action: "accept" } });
  await client.initialize({ elicitation: {} });
  const listed = async (): Promise<number> =>
    ((await client.request("tools/list")).result?.["tools"] as unknown[]).length;
  await until(async () => (await listed()) > 0);
  expect(client.requests).toHaveLength(1);
  await client.close();
});

const obstacle = noTerminal();
test.skipIf(obstacle !== undefined)("call asks for consent in a terminal", async () => {
  const folder = folderWithFoundConfig();
  folder.writeConfig({ a: fixture() });
  const command = [process.execPath, join(ROOT, "dist/metamcp.js"), "call", "a", "echo", "message=hello"];
  const no = new PseudoTerminal(command, folder.path("."), folder.env);
  await no.sees(/Allow it\? \[y\/N\]/);
  no.type("n\r");
  expect(await no.exited).toBe(1);
  const yes = new PseudoTerminal(command, folder.path("."), folder.env);
  await yes.sees(/Allow it\? \[y\/N\]/);
  yes.type("y\r");
  expect(await yes.exited).toBe(0);
  expect(yes.screen).toMatch(/hello\r?\n/);
});
