/**
 * One revision, a rollback for example, may replace a server by another one of the same name while calls wait
 * for a connection to it.
 */
import { expect, test } from "vitest";
import { type Caller, restCaller, sessionCaller } from "../../support/churn/callers.ts";
import { type TeamGateway, teamGateway } from "../../support/team-gateway.ts";
import { fixture, temp } from "../../support/temp.ts";
import { until } from "../../support/until.ts";

async function made(api: TeamGateway["api"], path: string, body: object): Promise<void> {
  const { status, body: answer } = await api("POST", path, body);
  expect(status, JSON.stringify(answer)).toBe(201);
}

test.each<[string, (gateway: TeamGateway, key: string) => Caller]>([
  ["an MCP client", (gateway, key) => sessionCaller(gateway, key, false)],
  ["plain HTTP", (gateway, key) => restCaller(gateway, key)],
])(
  "a call of %s that waits for a replaced server goes to the server that has its name",
  async (_, callerOf) => {
    const folder = temp();
    const [first, second] = [folder.journal("first"), folder.journal("second")];
    const gateway = await teamGateway(folder);
    const { api } = gateway;
    await made(api, "/mcp-servers", { name: "s", ...fixture("--journal", first.file) });
    await made(api, "/namespaces", { name: "n", servers: [{ server: "s" }] });
    await made(api, "/endpoints", { name: "e", namespaces: ["n"], surface: "meta", openapi: true });
    const { n } = (await api("GET", "/revisions?limit=1")).body.items[0];

    await api("DELETE", "/mcp-servers/s?force=true");
    const never = folder.path("never");
    await made(api, "/mcp-servers", { name: "s", ...fixture("--journal", second.file, "--wait-for", never) });
    await api("PATCH", "/namespaces/n", { servers: [{ server: "s" }] });

    const caller = callerOf(gateway, await gateway.key());
    const called = caller({ endpoint: "e", surface: "meta", server: "s", name: "count", args: { key: "k" } });
    await until(() => second.events("start").length > 0, { what: "the second server" });
    expect((await api("POST", `/revisions/${n}/rollback`)).status).toBeLessThan(300);
    expect(await called).toMatchObject({ kind: "ok", text: expect.stringContaining("k 1") });
    expect(first.events("count")).toHaveLength(1);
  },
);
