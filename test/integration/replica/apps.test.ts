/** Calls of apps by bare names at other replicas than those where their pages were used. */
import { expect, test } from "vitest";
import { appServer, callsOf, HOST, PAGE } from "../../support/app-server.ts";
import { HEADERS } from "../../support/http-gateway.ts";
import { RawSession, replicas } from "../../support/replica-team.ts";
import { onPostgres } from "../../support/replicas.ts";
import { atEnd, shared } from "../../support/shared.ts";
import type { TeamProcess } from "../../support/team-process.ts";
import { temp } from "../../support/temp.ts";
import { until } from "../../support/until.ts";

const addressIn = (server: string) => PAGE.replace("ui://", `ui://metamcp/${server}/`);

/** The endpoint `apps` with two servers that have the same page and the tool `refresh` for their apps. */
async function appTeam(count: number) {
  const team = await replicas(count);
  const folder = temp();
  const [first] = team.replicas as [TeamProcess];
  const app = { tools: { show: PAGE, refresh: PAGE }, forApps: ["refresh"] };
  const servers = {
    one: appServer(folder, "one", { ...app, tools: { ...app.tools, only_one: PAGE, told: PAGE } }),
    two: appServer(folder, "two", app),
    // Its tool names no page: it may name some in results.
    quiet: appServer(folder, "quiet", { tools: { told: "" } }),
  };
  for (const [name, entry] of Object.entries(servers))
    await first.api("POST", "/mcp-servers", { name, ...entry });
  const listed = Object.keys(servers).map((server) => ({ server }));
  await first.api("POST", "/namespaces", { name: "apps", servers: listed });
  const endpoint = { surface: "aggregate", namespaces: ["apps"] };
  await first.api("POST", "/endpoints", { name: "apps", ...endpoint });
  await first.api("POST", "/endpoints", { name: "open", access: { public: true }, ...endpoint });
  return { ...team, folder };
}

/** A request of the stateless era. Without a key it goes to the endpoint for everybody. */
async function ask(
  at: TeamProcess,
  key: string | undefined,
  method: string,
  params: Record<string, unknown>,
) {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": HOST,
  };
  const response = await fetch(`${at.url}/metamcp/${key === undefined ? "open" : "apps"}/mcp`, {
    method: "POST",
    headers: {
      ...HEADERS,
      ...(key !== undefined && { "x-api-key": key }),
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": method,
      "mcp-name": String(params["name"] ?? params["uri"]),
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta } }),
  });
  const text = await response.text();
  return JSON.parse(text.startsWith("{") ? text : (/^data: (.*)$/m.exec(text)?.[1] ?? "{}"));
}

onPostgres("apps at several replicas", () => {
  const given = shared(() => appTeam(2));

  test("a client without a session calls the tools of the page that it used at another replica", async () => {
    const { replicas: all, key, folder } = given();
    const [one, two] = all as [TeamProcess, TeamProcess];
    const read = (at: TeamProcess, server: string) =>
      ask(at, key, "resources/read", { uri: addressIn(server) });
    const call = (at: TeamProcess, name: string) => ask(at, key, "tools/call", { name, arguments: {} });
    await until(async () => (await ask(two, key, "tools/call", { name: "two__show" })).result);
    expect((await read(one, "two")).result.contents[0].text).toBe("page of two");
    expect((await call(two, "refresh")).result).toBeDefined();
    expect(callsOf(folder, "two").at(-1)).toBe("refresh");
    // The pages of both were used, each at another replica.
    expect((await read(two, "one")).result.contents[0].text).toBe("page of one");
    for (const at of [one, two])
      expect((await call(at, "refresh")).error.message).toContain("Apps of several servers");
    expect(callsOf(folder, "one")).not.toContain("refresh");
  });

  test("pages that clients without a login used at another replica count too", async () => {
    const { replicas: all, folder } = given();
    const [one, two] = all as [TeamProcess, TeamProcess];
    const read = (at: TeamProcess, server: string) =>
      ask(at, undefined, "resources/read", { uri: addressIn(server) });
    await until(async () => (await read(two, "two")).result);
    expect((await read(one, "one")).result.contents[0].text).toBe("page of one");
    const before = [callsOf(folder, "one"), callsOf(folder, "two")];
    for (const at of [one, two]) {
      const { error } = await ask(at, undefined, "tools/call", { name: "refresh", arguments: {} });
      expect(error.message).toContain("Apps of several servers");
    }
    expect([callsOf(folder, "one"), callsOf(folder, "two")]).toEqual(before);
  });

  test("while a replica does not answer, no app's call goes where it may not be meant to go", async () => {
    const { replicas: all, folder, start } = given();
    const [one] = all as [TeamProcess];
    const key = await one.key();
    const third = await start();
    await ask(third, key, "resources/read", { uri: addressIn("two") });
    await ask(one, key, "resources/read", { uri: addressIn("one") });
    const before = callsOf(folder, "one").length;
    process.kill(third.pid as number, "SIGSTOP");
    atEnd(() => void process.kill(third.pid as number, "SIGCONT"));
    const { error } = await ask(one, key, "tools/call", { name: "refresh", arguments: {} });
    expect(error.message).toContain("Another gateway does not answer");
    expect(callsOf(folder, "one")).toHaveLength(before);
    process.kill(third.pid as number, "SIGCONT");
  });

  test("a session that moved has what one server alone can mean, and nothing else", async () => {
    const { replicas: all, key, folder, start } = given();
    const [one] = all as [TeamProcess];
    const dying = await start();
    const session = await new RawSession(key, "apps").open(dying, HOST);
    await session.request(dying, "resources/read", { uri: addressIn("two") });
    await dying.kill("SIGKILL");
    const called = async (name: string) => {
      const response = await session.request(one, "tools/call", { name, arguments: {} });
      const text = await response.text();
      return JSON.parse(text.startsWith("{") ? text : (/^data: (.*)$/m.exec(text)?.[1] ?? "{}"));
    };
    await until(async () => (await called("only_one")).result);
    expect(callsOf(folder, "one").at(-1)).toBe("only_one");
    expect((await called("told")).error.message).toContain("Apps of several servers");
    // The page of server one is used now, but the app of server two may still be there.
    await session.request(one, "resources/read", { uri: addressIn("one") });
    const before = callsOf(folder, "one").length;
    expect((await called("refresh")).error.message).toContain("Apps of several servers");
    expect(callsOf(folder, "one")).toHaveLength(before);
  });
});
