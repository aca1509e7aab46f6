import { existsSync } from "node:fs";
import { afterAll, expect, test } from "vitest";
import { gateway } from "./gateway.ts";
import { alive, childrenOf, gone, kill, processesWithEnv } from "./processes.ts";
import { RawClient } from "./raw-client.ts";
import { fixture, temp } from "./temp.ts";
import { until } from "./until.ts";

const folders: string[] = [];
afterAll(() => expect(folders.filter((path) => existsSync(path))).toEqual([]));

test("processes are found by parent and by environment variable, and their end is noticed", async () => {
  const folder = temp();
  folders.push(folder.folder);
  const mark = `mark-${process.pid}`;
  const { command, args } = fixture("--grandchild", "--journal", folder.journal().file);
  const client = new RawClient(command, { args, env: { ...folder.env, METAMCP_CHILD: `gateway/${mark}` } });
  await client.initialize();
  const [grandchild = 0] = folder.journal().grandchildren();
  const family = [client.pid, grandchild];

  expect(childrenOf(process.pid)).toContain(client.pid);
  expect(childrenOf(client.pid)).toEqual([grandchild]);
  await until(() => processesWithEnv("METAMCP_CHILD", mark).length === 2);
  expect(new Set(processesWithEnv("METAMCP_CHILD", mark))).toEqual(new Set(family));
  expect(processesWithEnv("METAMCP_CHILD", "nobody")).toEqual([]);
  expect(family.map(alive)).toEqual([true, true]);

  await client.close();
  await gone(client.pid);
  expect(alive(grandchild)).toBe(true);
  await expect(gone(grandchild, { within: 30 })).rejects.toThrow(`the end of ${grandchild}`);
  kill(grandchild);
  await gone(family);
  expect(processesWithEnv("METAMCP_CHILD", mark)).toEqual([]);
});

test("temp gives a test its own home and config", async () => {
  const folder = temp();
  folders.push(folder.folder);
  folder.writeConfig({ one: fixture("--bare") }, { pool: { poolSize: 3 } });
  expect(existsSync(folder.config)).toBe(true);
  expect(existsSync(folder.home)).toBe(false);
  expect(folder.env["METAMCP_HOME"]).toBe(folder.home);
  expect(Object.keys(folder.env).filter((name) => name.startsWith("METAMCP_"))).toEqual([
    "METAMCP_HOME",
    "METAMCP_CONFIG",
  ]);
});

test("RawClient rejects its requests when the process ends and reports output that is not JSON-RPC", async () => {
  const script = 'process.stdin.once("data",()=>{process.stdout.write("hello\\n{\\"half");process.exit(4)})';
  const client = new RawClient(process.execPath, { args: ["-e", script] });
  await expect(client.request("ping")).rejects.toThrow("exited with 4");
  await expect(client.close()).rejects.toThrow('["hello","{\\"half"]');

  const missing = new RawClient("no-such-command-anywhere");
  await expect(missing.request("ping")).rejects.toThrow("ENOENT");
});

test("gateway starts the built product with its own config", async () => {
  const folder = temp();
  folder.writeConfig({ one: fixture("--journal", folder.journal().file) });
  const client = gateway(folder);
  await client.initialize();
  expect(await client.mcpCall("one", "echo", { message: "through" })).toMatchObject({
    content: [{ text: "through" }],
  });
  expect(await client.close()).toEqual({ code: 0, signal: null });
  expect(folder.journal().pids().filter(alive)).toEqual([]);
});
