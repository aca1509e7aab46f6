import { existsSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import { type SentAnswer, undescribed } from "./admin-answers.ts";
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

describe("answers of the admin API", () => {
  const answer = (more: Partial<SentAnswer>): SentAnswer => ({
    method: "GET",
    path: "/audit/verify",
    status: 200,
    type: "application/json",
    ...more,
  });
  const problem = { type: "about:blank", title: "Not found", status: 404, detail: "there is none" };

  test.each([
    ["the described answer", answer({}), '{"ok":true,"count":3}'],
    ["a problem", answer({ status: 404, type: "application/problem+json" }), JSON.stringify(problem)],
    ["no content", answer({ method: "DELETE", path: "/users/ada@example.org", status: 204, type: "" }), ""],
    ["a dry run", answer({ method: "DELETE", path: "/users/x" }), '{"changes":[]}'],
    [
      "an event",
      answer({ path: "/events", type: "text/event-stream" }),
      'event: hello\ndata: {"type":"hello","version":"1.0.0","revision":1}\n',
    ],
  ])("%s is accepted", (_, sent, text) => {
    expect(undescribed(sent, text)).toBeUndefined();
  });

  test.each([
    ["an unknown member", answer({}), '{"ok":true,"count":3,"more":1}', "additional properties"],
    ["a missing member", answer({}), '{"ok":true}', "required property 'count'"],
    ["a wrong type", answer({}), '{"ok":true,"count":"3"}', "must be integer"],
    ["another status", answer({ status: 201 }), '{"ok":true,"count":3}', "the status 201"],
    ["another content type", answer({ type: "text/plain" }), "ok", 'the content type "text/plain"'],
    ["unexpected content", answer({ method: "DELETE", path: "/users/x", status: 204 }), "{}", "no content"],
    [
      "a problem without detail",
      answer({ status: 404, type: "application/problem+json" }),
      '{"type":"about:blank","title":"","status":404}',
      "required property 'detail'",
    ],
    [
      "an unknown event",
      answer({ path: "/events", type: "text/event-stream" }),
      'event: bye\ndata: {"type":"bye"}\n',
      "anyOf",
    ],
    ["another page at an unknown path", answer({ path: "/none", type: "text/html" }), "", "not a problem"],
  ])("%s is refused", (_, sent, text, why) => {
    expect(undescribed(sent, text)).toContain(why);
  });
});
