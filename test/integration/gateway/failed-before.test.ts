/** What a gateway still knows after a restart about servers that failed before, on both databases. */
import { describe, expect, test } from "vitest";
import { SECRET } from "../../support/replicas.ts";
import { teamClient } from "../../support/team-gateway.ts";
import { teamPerson } from "../../support/team-person.ts";
import { type TeamProcess, teamProcess } from "../../support/team-process.ts";
import { fixture, temp } from "../../support/temp.ts";
import { noPostgres, postgresDatabase, sqliteDatabase } from "../../support/test-databases.ts";
import { until } from "../../support/until.ts";

const MISSING = "/nowhere/to/be/found";
const STORED = "SELECT id, value FROM metamcp_records WHERE kind = 'server-failure'";

const databases = [
  ["SQLite", async () => sqliteDatabase(), undefined],
  ["Postgres", () => postgresDatabase(), noPostgres],
] as const;

/** Starts a gateway on the same home and store again and again. */
async function started(database: (typeof databases)[number][1]) {
  const [folder, { url, sql }] = [temp(), await database()];
  const start = (...flags: string[]) =>
    teamProcess(folder, { flags: ["--store", url, ...flags], env: SECRET });
  return { start, stored: () => sql(STORED) };
}

const statusOf = async ({ api }: TeamProcess, name: string) =>
  (await api("GET", `/mcp-servers/${name}`)).body.status;

async function problemsOf({ api }: TeamProcess) {
  const { items, counts } = (await api("GET", "/attention")).body;
  return {
    items: items.map(({ kind, object: { name } }: { kind: string; object: { name: string } }) => [
      kind,
      name,
    ]),
    servers: counts.servers,
  };
}

describe.each(databases)("after a restart on %s", (_, database, missing) => {
  const when = test.skipIf(missing);

  when("a server that failed is not idle as if it were well, until somebody tries it", async () => {
    const { start, stored } = await started(database);
    const first = await start();
    await first.api("POST", "/mcp-servers", { name: "down", command: MISSING });
    const exits = { command: "sh", args: ["-c", "echo only-for-who-reads-output >&2; exit 3"] };
    await first.api("POST", "/mcp-servers", { name: "exits", ...exits });
    const flags = temp();
    await first.api("POST", "/mcp-servers", {
      name: "gone",
      ...fixture("--flags-file", flags.path("flags")),
    });
    await first.api("POST", "/mcp-servers", { name: "well", ...fixture() });
    const connect = async (name: string) =>
      (await first.api("POST", `/mcp-servers/${name}/connect`)).body.connection;
    for (const name of ["down", "gone", "well"]) await connect(name);
    expect(await connect("exits")).toMatchObject({ reason: expect.stringContaining("only-for-who") });
    flags.write("flags", "--exit-at-once 4");
    expect(await connect("gone")).toMatchObject({ state: "failed" });
    await until(async () => (await stored()).length === 3, { what: "the records" });
    const before = await statusOf(first, "down");
    expect(before).toMatchObject({ state: "failed", since: expect.any(String) });
    expect(before.lastFailure).toBeUndefined();
    await first.kill("SIGTERM");

    const second = await start();
    const down = await statusOf(second, "down");
    expect(down).toMatchObject({ state: "idle", connected: false });
    expect(down.lastFailure.since).toBe(before.since);
    expect(down.lastFailure.reason).toContain(MISSING);
    const viewer = await teamPerson(second, "viewer");
    for (const answer of [
      await statusOf(second, "exits"),
      (await viewer.ask("GET", "/mcp-servers/exits")).body["status"],
    ]) {
      expect(answer).toMatchObject({ lastFailure: { reason: expect.stringContaining("3") } });
      expect(JSON.stringify(answer)).not.toContain("only-for-who");
    }
    expect((await statusOf(second, "well")).lastFailure).toBeUndefined();
    expect(await problemsOf(second)).toMatchObject({
      items: [
        ["server.untried", "down"],
        ["server.untried", "exits"],
        ["server.untried", "gone"],
      ],
      servers: { failed: 0, untried: 3, connected: 0 },
    });

    // For clients it is a server that is not started, whose tools are known.
    await second.api("POST", "/namespaces", { name: "n", servers: [{ server: "gone" }] });
    await second.api("POST", "/endpoints", { name: "e", namespaces: ["n"], surface: "meta" });
    const client = await teamClient(second, "e", { key: await second.key() });
    const { servers } = JSON.parse(await client.call("mcp_discover", {}));
    expect(servers).toMatchObject([{ name: "gone", state: "idle", toolCount: expect.any(Number) }]);
    expect(servers[0].reason).toBeUndefined();

    const { connection } = (await second.api("POST", "/mcp-servers/down/connect")).body;
    expect(connection).toMatchObject({ state: "failed", since: before.since });
    expect(connection.lastFailure).toBeUndefined();
    expect((await problemsOf(second)).items).toEqual([
      ["server.failed", "down"],
      ["server.untried", "exits"],
      ["server.untried", "gone"],
    ]);

    // An entry that can be reached again has no failure, and a deleted one neither.
    await second.api("PATCH", "/mcp-servers/down", { ...fixture() });
    expect(await statusOf(second, "down")).toMatchObject({ connected: true });
    for (const name of ["exits", "gone"]) await second.api("DELETE", `/mcp-servers/${name}?force=true`);
    await second.kill("SIGTERM");
    expect(await stored()).toEqual([]);
    const third = await start();
    expect((await statusOf(third, "down")).lastFailure).toBeUndefined();
    expect((await problemsOf(third)).items).toEqual([]);
  });

  when("a gateway that was killed knows it too, and what ends with a gateway has not failed", async () => {
    const { start, stored } = await started(database);
    const first = await start();
    const journal = temp().journal();
    await first.api("POST", "/mcp-servers", { name: "dies", ...fixture() });
    const never = temp().path("never");
    const starts = fixture("--journal", journal.file, "--wait-for", never);
    await first.api("POST", "/mcp-servers", { name: "starts", ...starts });
    const call = (gateway: TeamProcess, server: string, tool: string, args: object = {}) =>
      gateway.api("POST", `/mcp-servers/${server}/tools/${tool}/call`, { args });
    // Until the breaker opens: a process that ended is only started again.
    const isBlocked = async () => (await statusOf(first, "dies")).state === "failed";
    await until(async () => (await call(first, "dies", "crash")) && (await isBlocked()), {
      what: "the block",
    });
    await until(async () => (await stored()).length === 1, { what: "the record" });
    await first.kill("SIGKILL");

    const second = await start("--drain", "60s");
    expect(await statusOf(second, "dies")).toMatchObject({ state: "idle", lastFailure: {} });
    await call(second, "dies", "echo", { message: "x" });
    await until(async () => (await stored()).length === 0, { what: "no record" });

    void second.api("POST", "/mcp-servers/starts/connect").catch(() => {});
    const { pid } = await until(() => journal.events("start")[0], { what: "the server" });
    const ended = second.kill("SIGTERM");
    const ready = async () => (await fetch(`${second.url}/readyz`)).ok;
    await until(async () => !(await ready()), { what: "the stop" });
    process.kill(pid, "SIGKILL");
    await until(async () => (await statusOf(second, "starts")).state === "failed", { what: "its failure" });
    // Ends the drain.
    void second.kill("SIGTERM");
    await ended;
    expect(await stored()).toEqual([]);
  });
});
