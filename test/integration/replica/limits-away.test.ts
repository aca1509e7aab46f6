/** With the database away each replica has its share of the limits; a limit that is required refuses. */
import { expect, test } from "vitest";
import { cutProxy } from "../../support/cut-proxy.ts";
import { makeTeam, onPostgres, request2026, startReplica } from "../../support/replicas.ts";
import { ADMIN_TOKEN } from "../../support/team-gateway.ts";
import { fixture } from "../../support/temp.ts";
import { postgresAddress, postgresDatabase } from "../../support/test-databases.ts";
import { until } from "../../support/until.ts";

onPostgres("limits without their database", () => {
  test.each(["cut", "stall"] as const)("the database is away (%s)", async (way) => {
    const { host, port } = postgresAddress();
    const proxy = await cutProxy({ host, port });
    const database = await postgresDatabase();
    const url = new URL(database.url);
    url.host = `127.0.0.1:${proxy.port}`;
    const flags = ["--replica-address", "127.0.0.1:0", "--drain", "0"];
    const one = await startReplica({ url: url.href }, { flags });
    const two = await startReplica({ url: url.href }, { flags });
    const limit = { use: "rate-limit", requests: 7, per: "60s" };
    const key = await makeTeam(
      one,
      { fix: fixture() },
      {
        free: { surface: "aggregate", middleware: [limit] },
        strict: { surface: "aggregate", middleware: [{ ...limit, required: true }] },
      },
    );
    const passes = async (endpoint: string): Promise<number> => {
      const call = { name: "fix__echo", arguments: { message: "x" } };
      const answers = await Promise.all(
        Array.from({ length: 9 }, () => request2026(one, endpoint, key, "tools/call", call)),
      );
      return answers.filter(({ result }) => result && !result.isError).length;
    };
    expect(await passes("strict")).toBe(7);
    await until(async () => (await one.api("GET", "/replicas")).body.items.length === 2);
    await proxy[way]();
    const ready = async () => (await (await fetch(`${one.url}/readyz`)).json()) as Record<string, unknown>;
    const divided = async () => {
      const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
      const text = await (await fetch(`${one.url}/metrics`, { headers })).text();
      return Number(/^metamcp_limits_divided\{[^}]*\} (\d)$/m.exec(text)?.[1]);
    };
    expect(await passes("strict")).toBe(0);
    await until(async () => (await ready())["limits"] === "divided");
    expect(await divided()).toBe(1);
    expect(await passes("free")).toBe(3);
    expect(await passes("strict")).toBe(0);
    if (way === "cut") await proxy.mend();
    else proxy.flow();
    await until(async () => !("limits" in (await ready())));
    expect(await divided()).toBe(0);
    void two;
  });
});
