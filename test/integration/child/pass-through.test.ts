/**
 * Messages between clients and children other than calls: logs, roots, notifications, progress of questions,
 * and subscriptions.
 */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { expect, onTestFinished, test } from "vitest";
import { gateway } from "../../support/gateway.ts";
import { httpGateway } from "../../support/http-gateway.ts";
import type { Journal } from "../../support/journal.ts";
import { aggregate } from "../../support/lists.ts";
import { gone } from "../../support/processes.ts";
import type { RawClient } from "../../support/raw-client.ts";
import { fixture, temp } from "../../support/temp.ts";
import { until } from "../../support/until.ts";

const paramsOf = (client: RawClient, method: string): unknown[] =>
  client.notifications.flatMap((one) => (one.method === method ? [one.params] : []));
const levels = (journal: Journal): unknown[] =>
  journal.events("message").flatMap(({ method, level }) => (method === "logging/setLevel" ? [level] : []));

test.each(["meta", "aggregate"])(
  "log levels, root changes and unknown notifications are forwarded on the %s surface",
  async (surface) => {
    const folder = temp();
    const [first, second] = [folder.journal("first"), folder.journal("second")];
    folder.writeConfig({
      first: fixture("--journal", first.file),
      second: fixture("--journal", second.file),
    });
    const client = gateway(folder, { flags: ["--surface", surface] });
    client.reply = () => ({ result: { roots: [] } });
    const { result } = await client.initialize({ roots: { listChanged: true } });
    expect(result).toMatchObject({ capabilities: { logging: {} } });
    const call = (server: string, tool: string, args: object) =>
      surface === "meta" ? client.mcpCall(server, tool, args) : client.tool(`${server}__${tool}`, args);
    await call("first", "echo", { message: "" });
    expect((await client.request("logging/setLevel", { level: "loud" })).error?.code).toBe(-32602);
    expect((await client.request("logging/setLevel", { level: "warning" })).result).toEqual({});
    await first.until(() => levels(first).length > 0);

    await call("first", "log", { level: "info", data: "too quiet" });
    await call("first", "log", { level: "error", data: [1] });
    await call("second", "log", { level: "info", data: "too quiet" });
    await call("second", "log", { level: "alert", data: [2] });
    expect([levels(first), levels(second)]).toEqual([["warning"], ["warning"]]);
    expect(paramsOf(client, "notifications/message")).toMatchObject([{ data: [1] }, { data: [2] }]);

    client.notify("notifications/roots/list_changed");
    for (const journal of [first, second]) await journal.until(() => journal.events("roots").length === 1);

    await call("first", "notify", { method: "notifications/future", params: { a: 1 } });
    expect(paramsOf(client, "notifications/future")).toEqual([{ a: 1 }]);
    await client.close();
  },
);

test("a child receives progress of its own request under its own token, and can cancel the request", async () => {
  const folder = temp();
  const journal = folder.journal();
  folder.writeConfig({ a: fixture("--journal", journal.file) });
  const client = aggregate(folder);
  await client.initialize({ sampling: {} });
  client.reply = ({ params }) => {
    const { progressToken } = (params?.["_meta"] ?? {}) as { progressToken?: unknown };
    client.notify("notifications/progress", { progressToken, progress: 1 });
    return { result: { role: "assistant" } };
  };
  const params = { _meta: { progressToken: "the child's own" }, messages: [] };
  await client.tool("a__request", { method: "sampling/createMessage", params });
  const progress = journal.events("message").filter(({ method }) => method === "notifications/progress");
  expect(progress).toMatchObject([{ token: "the child's own" }]);

  client.reply = undefined;
  const asked = client.tool("a__request", { method: "sampling/createMessage", params });
  void asked.catch(() => {});
  const waiting = client.lastId;
  await client.until(() => client.requests.length === 2);
  // The child numbers its requests from 1; this is the second one.
  await client.tool("a__notify", { method: "notifications/cancelled", params: { requestId: 2 } });
  await client.until(() => paramsOf(client, "notifications/cancelled").length > 0);
  expect(paramsOf(client, "notifications/cancelled")).toMatchObject([{ requestId: client.requests[1]?.id }]);
  client.notify("notifications/cancelled", { requestId: waiting });
  await client.close();
});

test("a subscription reports its own resource, survives a crash of the child, and can be ended", async () => {
  const folder = temp();
  const journal = folder.journal();
  const uri = "fixture://item/0";
  folder.writeConfig({
    a: { ...fixture("--bare", "--tools", "1", "--resources", "1"), lifecycle: "keep-alive" },
    b: {
      ...fixture("--journal", journal.file, "--resources", "1"),
      // A subscribed server is not idle.
      lifecycle: "ephemeral",
    },
  });
  const client = aggregate(folder);
  await client.initialize();
  await client.request("resources/list");
  const address = `metamcp://server/b/${uri}`;
  expect((await client.request("resources/subscribe", { uri: address })).result).toEqual({});
  const [subscribed] = journal.events("message").filter(({ method }) => method === "resources/subscribe");
  expect(subscribed).toMatchObject({ uri });

  const update = (changed: string) =>
    client.tool("b__notify", { method: "notifications/resources/updated", params: { uri: changed } });
  await update(uri);
  await update("fixture://item/1");
  await update(`${uri}/part`);
  expect(paramsOf(client, "notifications/resources/updated")).toEqual([
    { uri: address },
    { uri: `${address}/part` },
  ]);
  expect(
    new Set(
      journal
        .events("message")
        .slice(-3)
        .map(({ pid }) => pid),
    ).size,
  ).toBe(1);
  const { pid } = subscribed ?? {};
  expect(journal.pids().at(-1)).toBe(pid);

  // The new process is subscribed again, and the client is notified because an update may have been missed.
  await client.tool("b__crash", { crashes: 1 }).catch(() => {});
  await client.tool("b__echo", { message: "" });
  const again = journal.pids().at(-1) as number;
  expect(again).not.toBe(pid);
  await client.until(() => paramsOf(client, "notifications/resources/updated").length === 3);
  expect(journal.methods(again)).toContain("resources/subscribe");

  expect((await client.request("resources/unsubscribe", { uri: address })).result).toEqual({});
  await client.tool("b__notify", { method: "notifications/resources/updated", params: { uri } });
  expect(paramsOf(client, "notifications/resources/updated")).toHaveLength(3);
  expect(journal.methods()).toContain("resources/unsubscribe");
  await client.close();
});

/** A client over HTTP, with the resource updates and the other notifications that it received. */
async function connectTo(url: string) {
  const updates: string[] = [];
  const others: string[] = [];
  const client = new Client({ name: "test", version: "1" });
  client.fallbackNotificationHandler = async ({ method, params }) => {
    if (method === "notifications/resources/updated") updates.push((params as { uri: string }).uri);
    else if (!method.endsWith("list_changed")) others.push(method);
  };
  const transport = new StreamableHTTPClientTransport(new URL(url));
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  onTestFinished(() => client.close());
  return { client, transport, updates, others };
}

test("clients that share a child receive only their own subscriptions, and the child is subscribed to once", async () => {
  const folder = temp();
  const journal = folder.journal();
  folder.writeConfig({ a: fixture("--journal", journal.file, "--resources", "2") });
  const { url, stop } = await httpGateway(folder, "--surface", "aggregate");
  const [one, two] = [await connectTo(url), await connectTo(url)];
  const notify = (method: string, params: object = {}) =>
    one.client.callTool({ name: "a__notify", arguments: { method, params } });
  const updated = (uri: string) => notify("notifications/resources/updated", { uri });
  const uris = (method: string): unknown[] =>
    journal.events("message").flatMap((event) => (event.method === method ? [event.uri] : []));

  await one.client.subscribeResource({ uri: "fixture://item/0" });
  await two.client.subscribeResource({ uri: "fixture://item/0" });
  await two.client.subscribeResource({ uri: "fixture://item/1" });
  expect(uris("resources/subscribe")).toEqual(["fixture://item/0", "fixture://item/1"]);
  await updated("fixture://item/0");
  await updated("fixture://item/1");
  await notify("notifications/future");
  const all = ["fixture://item/0", "fixture://item/1"];
  await until(() => two.updates.length === 2 && two.others.length === 1 && one.others.length === 1);
  expect([one.updates, two.updates]).toEqual([["fixture://item/0"], all]);

  await one.client.unsubscribeResource({ uri: "fixture://item/0" });
  expect(uris("resources/unsubscribe")).toEqual([]);
  await updated("fixture://item/0");
  await until(() => two.updates.length === 3);
  expect(one.updates).toHaveLength(1);
  // Subscriptions end with their session.
  await two.transport.terminateSession();
  await journal.until(() => uris("resources/unsubscribe").length === 2);
  expect(uris("resources/unsubscribe")).toEqual(all);
  expect(journal.pids()).toHaveLength(1);
  await stop();
});

test("with isolation each client has its own connection, which ends with its session", async () => {
  const folder = temp();
  const journal = folder.journal();
  folder.writeConfig({ a: { ...fixture("--journal", journal.file), isolation: "session" } });
  const { url, stop } = await httpGateway(folder, "--surface", "aggregate");
  const [one, two] = [await connectTo(url), await connectTo(url)];
  const pidOf = async ({ client }: typeof one): Promise<number> => {
    const { content } = await client.callTool({ name: "a__pid" });
    return Number((content as { text: string }[])[0]?.text);
  };
  const [first, second] = [await pidOf(one), await pidOf(two)];
  expect(first).not.toBe(second);
  const future = { method: "notifications/future" };
  await one.client.callTool({ name: "a__notify", arguments: future });
  await until(() => one.others.length === 1);
  await one.transport.terminateSession();
  await gone([first]);
  expect(await pidOf(two)).toBe(second);
  expect(two.others).toEqual([]);
  await stop();
  await gone(journal.pids());
});

test("clients that share a child receive log messages of their own level only", async () => {
  const folder = temp();
  const journal = folder.journal();
  folder.writeConfig({ a: fixture("--journal", journal.file) });
  const { url, stop } = await httpGateway(folder, "--surface", "aggregate");
  const [one, two] = [await connectTo(url), await connectTo(url)];
  const log = ({ client }: typeof one, level: string) =>
    client.callTool({ name: "a__log", arguments: { level, data: "x" } });
  await log(one, "error");
  await log(two, "error");
  await one.client.setLoggingLevel("error");
  await two.client.setLoggingLevel("info");
  await journal.until(() => levels(journal).length === 2);
  expect(levels(journal)).toEqual(["error", "info"]);
  await log(one, "info");
  await log(two, "info");
  await until(() => two.others.length === 2);
  expect(one.others).toHaveLength(1);
  await two.transport.terminateSession();
  await journal.until(() => levels(journal).length === 3);
  expect(levels(journal).at(-1)).toBe("error");
  await stop();
});
