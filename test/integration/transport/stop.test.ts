/** The end of the gateway: running calls are answered, and no process is left, however it ends. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { gateway } from "../../support/gateway.ts";
import { event, events, httpChild, json, result, sessionful } from "../../support/http-child.ts";
import { failureOf, startedBy, textOf } from "../../support/meta.ts";
import { alive, gone } from "../../support/processes.ts";
import { RawClient } from "../../support/raw-client.ts";
import { fixture, ROOT, type Temp, temp } from "../../support/temp.ts";
import { until } from "../../support/until.ts";

const PROGRAM = join(ROOT, "dist/metamcp.js");
const STUBBORN = ["--ignore-eof", "--ignore-sigterm"];
const FAMILIES: Record<string, string[]> = {
  plain: [],
  deaf: STUBBORN,
  group: [...STUBBORN, "--grandchild"],
  stubborn: ["--grandchild=stubborn"],
  left: ["--grandchild=detached"],
  worst: [...STUBBORN, "--grandchild=detached-stubborn"],
};

/** A gateway with one running child of each kind, and the pids of all their processes. */
async function withFamilies(folder: Temp): Promise<[RawClient, number[]]> {
  const servers = Object.entries(FAMILIES).map(([name, flags]) => [
    name,
    fixture("--journal", folder.journal(name).file, ...flags),
  ]);
  folder.writeConfig(Object.fromEntries(servers));
  const client = gateway(folder, { flags: ["--log-level", "error"] });
  await client.initialize();
  const names = Object.keys(FAMILIES);
  await Promise.all(names.map((name) => client.mcpCall(name, "pid")));
  const all = names.flatMap((name) => [
    ...folder.journal(name).pids(),
    ...folder.journal(name).grandchildren(),
  ]);
  expect(all).toHaveLength(10);
  // A detached process needs a moment until it carries its mark.
  await until(() => startedBy(client).length === all.length, { what: "all marked processes" });
  return [client, all];
}

test("the end of stdin lets running calls finish and leaves no process behind", async () => {
  const [client, all] = await withFamilies(temp());
  const underWay = client.mcpCall("plain", "sleep", { ms: 400 });
  const begun = client.mcpCall("deaf", "count", { key: "begun", ms: 400 });
  const exit = client.close();
  expect(textOf(await underWay)).toBe("slept 400");
  expect(textOf(await begun)).toBe("begun 1");
  expect(await exit).toEqual({ code: 0, signal: null });
  expect(all.filter(alive)).toEqual([]);
  expect(startedBy(client)).toEqual([]);
});

test.each(["SIGTERM", "SIGINT"] as const)(
  "%s, also twice, rejects new requests and finishes running ones",
  async (signal) => {
    const folder = temp();
    const [client, all] = await withFamilies(folder);
    const underWay = client.mcpCall("plain", "count", { key: "k", ms: 2_500 });
    await folder.journal("plain").until((journal) => journal.executions("k") === 1);
    client.kill(signal);
    const refused = await until(async () => (await client.request("tools/list")).error);
    expect(refused.message).toMatch(/stopping/);
    client.kill(signal);
    expect(textOf(await underWay)).toBe("k 1");
    expect(await client.exited).toEqual({ code: 0, signal: null });
    expect(all.filter(alive)).toEqual([]);
  },
);

test.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
  "a command that is ended by %s, also twice, leaves no process behind",
  async (signal) => {
    const folder = temp();
    const journal = folder.journal();
    folder.writeConfig({ deaf: fixture("--journal", journal.file, ...STUBBORN) });
    const command = new RawClient(process.execPath, {
      args: [PROGRAM, "call", "deaf", "hang"],
      cwd: folder.path("."),
      env: folder.env,
    });
    await journal.until(() => journal.events("message").some(({ tool }) => tool === "hang"));
    command.kill(signal);
    await journal.until(() => journal.events("eof").length > 0);
    command.kill(signal);
    expect(await command.exited).toEqual({ code: 130, signal: null });
    expect(journal.pids().filter(alive)).toEqual([]);
  },
);

test("a call that does not finish in time gets an error, and a starting process is ended too", async () => {
  const folder = temp();
  const journal = folder.journal();
  folder.writeConfig({
    a: fixture("--journal", journal.file),
    starting: fixture("--no-initialize", ...STUBBORN, "--journal", folder.journal("starting").file),
  });
  const client = gateway(folder, { flags: ["--log-level", "error"] });
  await client.initialize();
  const hanging = client.mcpCall("a", "hang");
  const waiting = client.mcpCall("starting", "echo", { message: "?" });
  await journal.until(() => journal.events().some(({ tool }) => tool === "hang"));
  await folder.journal("starting").until((one) => one.events("message").length > 0);
  const exit = client.close();
  expect(failureOf(await hanging)).toMatchObject({ code: "server_unavailable", retryable: false });
  expect(failureOf(await waiting)).toMatchObject({ code: "server_unavailable" });
  expect((await exit).code).toBe(0);
  expect([...journal.pids(), ...folder.journal("starting").pids()].filter(alive)).toEqual([]);
});

test("an answer that a remote child sends on a resumed stream is waited for", async () => {
  let called = 0;
  let resumed = 0;
  const child = await httpChild(
    sessionful((seen, response, request) => {
      const { id, method } = seen.message;
      if (method === "tools/list")
        json(response, result(id, { tools: [{ name: "t", inputSchema: { type: "object" } }] }));
      // The stream breaks off and is resumed later. Until then no socket is open.
      else if (method === "tools/call") {
        called = Number(id);
        events(response).end(`retry: 1500\n${event("", "1")}`, () => request.socket.destroy());
      } else if (seen.headers["last-event-id"] === "1") {
        resumed++;
        events(response).end(event(result(called, { content: [{ type: "text", text: "late" }] }), "2"));
      }
    }),
  );
  const folder = temp();
  folder.writeConfig({ remote: { url: child.url } });
  const client = gateway(folder);
  await client.initialize();
  const late = client.mcpCall("remote", "t");
  await until(() => called > 0);
  const exit = client.close();
  expect(textOf(await late)).toBe("late");
  expect(resumed).toBe(1);
  expect((await exit).code).toBe(0);
});

test("a client that stopped reading does not prevent the exit", async () => {
  const folder = temp();
  folder.writeConfig({ a: fixture("--journal", folder.journal().file) });
  const args = [PROGRAM, "--config", folder.config];
  const server = spawn(process.execPath, args, { env: folder.env, stdio: ["pipe", "pipe", "ignore"] });
  const exited = new Promise((resolve) => server.once("exit", (code) => resolve(code)));
  const say = (id: number, method: string, params: object): void =>
    void server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
  say(1, "initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: {} });
  const call = { server: "a", tool: "big", args: { bytes: 8_000_000 } };
  say(2, "tools/call", { name: "mcp_call", arguments: call });
  const journal = folder.journal();
  await journal.until(() => journal.events().some(({ tool }) => tool === "big"));
  server.kill("SIGTERM");
  expect(await exited).toBe(0);
  await gone(journal.pids());
});

/** Starts the product as a client would, sends the given lines, and waits to be killed. */
const CLIENT = `
const { spawn } = await import("node:child_process");
const [program, lines, ...args] = process.argv.slice(1);
const server = spawn(process.execPath, [program, ...args], { stdio: ["pipe", "pipe", "ignore"] });
server.stdin.write(lines);
server.stdout.resume();
console.log(server.pid);
`;

test("when its client is killed the gateway ends with all its children", async () => {
  const folder = temp();
  // SIGTERM follows the end of stdin after 50 ms, which is before a child on a busy machine has read it.
  folder.writeConfig({ a: fixture("--journal", folder.journal().file, "--ignore-sigterm") });
  const request = (id: number, method: string, params: object): string =>
    `${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`;
  const call = { server: "a", tool: "hang" };
  const lines =
    request(1, "initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: {} }) +
    request(2, "tools/call", { name: "mcp_call", arguments: call });
  const args = ["--input-type=module", "-e", CLIENT, PROGRAM, lines, "--config", folder.config];
  const client = spawn(process.execPath, args, { env: folder.env, stdio: ["ignore", "pipe", "ignore"] });
  const printedPid = new Promise<string>((resolve) =>
    client.stdout.once("data", (data) => resolve(String(data))),
  );
  const journal = folder.journal();
  await journal.until(() => journal.events().some(({ tool }) => tool === "hang"));
  client.kill("SIGKILL");
  await gone([Number(await printedPid), ...journal.pids()]);
  // The call was cancelled, and the child ended by itself.
  expect(journal.events("cancelled")).toHaveLength(1);
  expect(journal.events("eof")).toHaveLength(1);
});

test("a closed stdout is noticed with the next answer, and the gateway ends in order", async () => {
  const folder = temp();
  const journal = folder.journal();
  folder.writeConfig({ a: fixture("--journal", journal.file) });
  const command = `"${process.execPath}" "${PROGRAM}" --config "${folder.config}" | head -c 1 >&2`;
  const client = new RawClient("sh", { args: ["-c", command], env: folder.env });
  client.initialize().catch(() => {});
  client.mcpCall("a", "echo", { message: "to nobody" }).catch(() => {});
  expect((await client.exited).code).toBe(0);
  await gone(journal.pids());
  expect(journal.events("eof")).toHaveLength(1);
});

test("the next start ends processes of a killed gateway, but not those of a running one", async () => {
  const folder = temp();
  const other = temp();
  const [killed, left] = await withFamilies(folder);
  const [living, theirs] = await withFamilies(other);
  killed.kill("SIGKILL");
  await killed.exited;
  await until(() => left.filter(alive).length < left.length);
  const stubborn = left.filter(alive);
  expect(stubborn.length).toBeGreaterThan(2);
  // The same home as the running gateway.
  const next = gateway(other);
  await next.initialize();
  await gone(left);
  expect(theirs.filter(alive)).toEqual(theirs);
  expect(textOf(await living.mcpCall("worst", "echo", { message: "untouched" }))).toBe("untouched");
  await next.close();
  expect(theirs.filter(alive)).toEqual(theirs);
  await living.close();
  await gone(theirs);
});
