/**
 * Clients and children of both protocol eras in every combination. Neither side can tell the era of the
 * other.
 */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { type Answerer, CLIENTS, call, ERA_2026_CHILD, era2026HttpChild, open } from "../../support/eras.ts";
import { gateway } from "../../support/gateway.ts";
import { discover } from "../../support/meta.ts";
import { fixture, type Temp, temp } from "../../support/temp.ts";
import { until } from "../../support/until.ts";

const KEY = "io.modelcontextprotocol/";
const CHILDREN = ["legacy", "era2026", "remote"] as const;

/** One child of each kind: legacy, stateless on stdio, and stateless over HTTP. */
async function writeChildren(folder: Temp): Promise<void> {
  folder.writeConfig({
    legacy: fixture(),
    era2026: era2026Child("--journal", folder.journal().file),
    remote: { url: await era2026HttpChild("--strict") },
  });
}

function era2026Child(...flags: string[]): { command: string; args: string[] } {
  return { command: process.execPath, args: [ERA_2026_CHILD, ...flags] };
}

/** The messages that reached a child of the stateless era. */
function receivedIn(folder: Temp): { method?: string; pid: number }[] {
  const lines = readFileSync(folder.journal().file, "utf8").split("\n");
  return lines.filter(Boolean).map((line) => JSON.parse(line));
}

/** An answerer that accepts every question, and the methods of these questions. */
function acceptingAnswerer(): { asked: string[]; answer: Answerer } {
  const asked: string[] = [];
  return {
    asked,
    answer({ method, params }) {
      asked.push(method);
      if (method === "roots/list") return { roots: [] };
      if (method === "sampling/createMessage")
        return { role: "assistant", model: "m", content: { type: "text", text: "x" } };
      return { action: "accept", content: { name: params?.["message"] } };
    },
  };
}

describe.each(CLIENTS)("a %s client", (client) => {
  const era2026 = client.startsWith("2026");

  test("calls children of both eras, receives their progress, and answers their questions during a call", async () => {
    const folder = temp();
    await writeChildren(folder);
    const driver = await open(client, folder, { elicitation: {}, sampling: {}, roots: {} });
    for (const server of CHILDREN) {
      const { result } = await call(driver, server, "echo", { args: { message: "hi" } });
      expect(result?.["content"], server).toEqual([{ type: "text", text: "hi" }]);
      expect(result?.["resultType"], server).toBe(era2026 ? "complete" : undefined);

      const { asked, answer } = acceptingAnswerer();
      const answered = await call(driver, server, "ask", { args: { message: "Who?" }, answer });
      expect(asked, server).toEqual(["elicitation/create"]);
      expect(answered.result?.["structuredContent"], server).toEqual({
        answer: { action: "accept", content: { name: "Who?" } },
      });

      const reported = await call(driver, server, "progress", {
        args: { n: 2 },
        _meta: { progressToken: "mine" },
      });
      const progress = reported.notifications.filter(({ method }) => method === "notifications/progress");
      expect(
        progress.map(({ params }) => [params["progressToken"], params["progress"]]),
        server,
      ).toEqual([
        ["mine", 1],
        ["mine", 2],
      ]);
    }
    await driver.close();
  });

  test("answers several questions at once, several in a row, and retries later, for children of the stateless era", async () => {
    const folder = temp();
    await writeChildren(folder);
    const driver = await open(client, folder, { elicitation: {}, sampling: {}, roots: {} });
    for (const server of ["era2026", "remote"]) {
      const { asked, answer } = acceptingAnswerer();
      const many = await call(driver, server, "ask_many", { answer });
      expect(many.result?.["structuredContent"], server).toMatchObject({
        c: { roots: [] },
        requestState: "many",
      });
      // In a session the roots are requested only once, before the first server starts.
      const roots = era2026 || server === "era2026" ? ["roots/list"] : [];
      expect(asked.toSorted()).toEqual(["elicitation/create", ...roots, "sampling/createMessage"]);
      const twice = await call(driver, server, "ask_twice", { answer });
      expect(twice.result?.["content"], server).toEqual([{ type: "text", text: "two 2 after 1??" }]);
      const later = await call(driver, server, "retry_later");
      expect(later.result?.["content"], server).toEqual([{ type: "text", text: "later" }]);
      const region = await call(driver, server, "region", { args: { region: "eu" } });
      expect(region.result?.["content"]).toEqual([
        { type: "text", text: server === "remote" ? "eu eu" : "eu undefined" },
      ]);
    }
    await driver.close();
  });

  test("without capabilities is not asked, and gets an error that names the missing capability", async () => {
    const folder = temp();
    await writeChildren(folder);
    const driver = await open(client, folder);
    for (const server of CHILDREN) {
      const asked: string[] = [];
      const { result } = await call(driver, server, "ask", {
        answer: ({ method }) => void asked.push(method),
      });
      // A child that asks in spite of the missing capability is refused too.
      expect(JSON.stringify(result), server).toMatch(/did not declare/);
      expect(asked, server).toEqual([]);
    }
    const { result } = await call(driver, "era2026", "needs");
    expect(result).toMatchObject({
      isError: true,
      structuredContent: {
        error: {
          code: "execution_failed",
          details: { code: -32603, data: { requiredCapabilities: { sampling: {} } } },
        },
      },
    });
    await driver.close();
  });
});

test("a stdio child is probed for its era once, on one process, and the cached era is used later", async () => {
  const folder = temp();
  folder.writeConfig({ a: era2026Child("--journal", folder.journal().file) });
  const first = gateway(folder);
  await first.initialize();
  await first.mcpCall("a", "count");
  await first.close();
  const started = receivedIn(folder);
  expect(new Set(started.map(({ pid }) => pid)).size).toBe(1);
  expect(started.flatMap(({ method }) => method ?? []).slice(0, 3)).toEqual([
    "initialize",
    "server/discover",
    "subscriptions/listen",
  ]);

  const second = gateway(folder);
  await second.initialize();
  await discover(second);
  await second.mcpCall("a", "count");
  await second.close();
  const [, ...later] = receivedIn(folder).slice(started.length);
  expect(later[0]?.method).toBe("server/discover");
  expect(later.some(({ method }) => method === "initialize")).toBe(false);
});

test("a child that changed its era is probed again on the same process", async () => {
  const folder = temp();
  const journal = folder.journal();
  const both = folder.write(
    "child.mjs",
    `process.argv.push(...(await import("node:fs")).readFileSync(${JSON.stringify(folder.path("flags"))}, "utf8").split(" "));
    await import((await import("node:fs")).readFileSync(${JSON.stringify(folder.path("which"))}, "utf8"));`,
  );
  folder.write("flags", `--journal ${journal.file}`);
  folder.write("which", ERA_2026_CHILD);
  folder.writeConfig({ a: { command: process.execPath, args: [both] } });
  const first = gateway(folder);
  await first.initialize();
  await first.mcpCall("a", "echo", { message: "new" });
  await first.close();

  folder.write("which", fixture().args[0] as string);
  const second = gateway(folder);
  await second.initialize();
  await discover(second);
  const { content } = await second.mcpCall("a", "echo", { message: "old" });
  expect(content).toEqual([{ type: "text", text: "old" }]);
  await second.close();
  const methods = journal.methods();
  expect(methods.slice(0, 2)).toEqual(["server/discover", "initialize"]);
  expect(journal.pids()).toHaveLength(2);
});

test("a list change of a child of era 2026-07-28 reaches the catalog", async () => {
  const folder = temp();
  folder.writeConfig({ a: { url: await era2026HttpChild("--strict") } });
  const client = gateway(folder);
  await client.initialize();
  await client.mcpCall("a", "change");
  await until(async () => (await discover(client, { server: "a", limit: 100 })).server?.toolCount === 14, {
    what: "the new tool",
  });
  await client.close();
});

test("a cancellation reaches a child of era 2026-07-28 in the form of its transport", async () => {
  const folder = temp();
  const journals = [folder.journal("one"), folder.journal("two")] as const;
  folder.writeConfig({
    stdio: era2026Child("--journal", journals[0].file),
    http: { url: await era2026HttpChild("--journal", journals[1].file) },
  });
  const client = gateway(folder);
  await client.initialize();
  for (const [at, server] of (["stdio", "http"] as const).entries()) {
    const journal = journals[at] as (typeof journals)[0];
    void client.mcpCall(server, "slow").catch(() => {});
    await journal.until(() => journal.events().some(({ method }) => method === "tools/call"));
    client.notify("notifications/cancelled", { requestId: client.lastId });
    await journal.until(() => journal.events("cancelled").length > 0);
    expect(journal.events().filter(({ method }) => method === "notifications/cancelled")).toHaveLength(
      server === "stdio" ? 1 : 0,
    );
  }
  await client.close();
});

test("results of a child of era 2026-07-28 reach a client of that era unchanged", async () => {
  const folder = temp();
  folder.writeConfig({ a: era2026Child("--journal", folder.journal().file) });
  const driver = await open("2026 http", folder);
  const { result } = await call(driver, "a", "weird");
  expect(result).toEqual({
    resultType: "complete",
    content: [{ type: "smell", data: 1 }],
    unheard: { of: "12345678901234567890" },
    _meta: { [`${KEY}serverInfo`]: { name: "era-2026-fixture", version: "1.0.0" } },
  });
  await driver.close();
});
