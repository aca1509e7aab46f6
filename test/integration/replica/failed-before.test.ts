/** What replicas say after a restart about a server that failed at some of them. */
import { expect, test } from "vitest";
import { onPostgres, type Replica, startReplica } from "../../support/replicas.ts";
import { FIXTURE, temp } from "../../support/temp.ts";
import { postgresDatabase } from "../../support/test-databases.ts";
import { until } from "../../support/until.ts";

const FLAGS = ["--replica-address", "127.0.0.1:0", "--drain", "0"];

onPostgres("a server that failed", () => {
  test("at one replica and works at another has not failed after a restart of both", async () => {
    const database = await postgresDatabase();
    const folder = temp();
    const start = (name: string): Promise<Replica> =>
      startReplica(database, { flags: FLAGS, env: { FIXTURE_FILE: folder.path(name) } });
    const stored = async () =>
      (await database.sql("SELECT value FROM metamcp_records WHERE kind = 'server-failure'")).length;
    const statusAt = async ({ api }: Replica) => (await api("GET", "/mcp-servers/s")).body.status;
    const kindsAt = async ({ api }: Replica): Promise<string[]> =>
      (await api("GET", "/attention")).body.items.map(({ kind }: { kind: string }) => kind);

    folder.write("bad", "--exit-at-once 3");
    const bad = await start("bad");
    const args = [FIXTURE, "--flags-file", `$${"{FIXTURE_FILE}"}`];
    await bad.api("POST", "/mcp-servers", { name: "s", command: process.execPath, args });
    await bad.api("POST", "/mcp-servers/s/connect");
    await until(async () => (await stored()) === 1, { what: "the record" });
    const { replica } = (await statusAt(bad)).replicas[0];

    // One that has not tried it yet says what another one saw, and that one says what is so now.
    const good = await start("good");
    const both = await until(async () => {
      const status = await statusAt(good);
      return status.replicas.length === 2 && status;
    });
    expect(both).toMatchObject({ state: "failed" });
    const untried = both.replicas.find((row: { replica: string }) => row.replica !== replica);
    expect(untried).toMatchObject({ state: "idle", lastFailure: { replica } });
    expect(await kindsAt(good)).toEqual(["server.failed"]);

    await bad.kill("SIGTERM");
    const alone = await until(async () => {
      const status = await statusAt(good);
      return status.replicas.length === 1 && status;
    });
    expect(alone).toMatchObject({ state: "idle", lastFailure: { replica } });
    expect(await kindsAt(good)).toEqual(["server.untried"]);
    const { connection } = (await good.api("POST", "/mcp-servers/s/connect")).body;
    expect(connection).toMatchObject({ connected: true });
    await until(async () => (await stored()) === 0, { what: "no record" });

    // It fails there again while it works here: that is no failure of the server.
    const again = await start("bad");
    await again.api("POST", "/mcp-servers/s/tools/echo/call", { args: { message: "x" } });
    await until(async () => (await statusAt(again)).replicas.some(isFailed), { what: "the failure" });
    expect(await statusAt(again)).toMatchObject({ connected: true });
    await again.kill("SIGTERM");
    await until(async () => (await stored()) === 0, { what: "no record" });
    await good.kill("SIGTERM");
    const last = await start("good");
    expect((await statusAt(last)).lastFailure).toBeUndefined();
    expect(await kindsAt(last)).toEqual([]);
  });
});

const isFailed = ({ state }: { readonly state: string }): boolean => state === "failed";
