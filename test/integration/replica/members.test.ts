/** Replicas know each other, say what does not fit, and refuse strangers at the address between them. */
import { once } from "node:events";
import { connect } from "node:tls";
import { describe, expect, test } from "vitest";
import type { Replicas } from "../../../src/store/replicas.ts";
import { RawSession, replicas } from "../../support/replica-team.ts";
import { onPostgres, SECRET, startReplica } from "../../support/replicas.ts";
import { type TeamProcess, teamProcess } from "../../support/team-process.ts";
import { temp } from "../../support/temp.ts";
import { crowdedDatabase, postgresDatabase } from "../../support/test-databases.ts";
import { until } from "../../support/until.ts";

const SHARED = ["--replica-address", "127.0.0.1:0", "--drain", "0"];

async function readyz({ url }: TeamProcess): Promise<Record<string, unknown>> {
  return (await (await fetch(`${url}/readyz`)).json()) as Record<string, unknown>;
}

onPostgres("replicas", () => {
  test("each lists all of them, and notices when one comes, goes and dies", async () => {
    const team = await replicas(2);
    const [one, two] = team.replicas as [TeamProcess, TeamProcess];
    const session = await new RawSession(team.key).open(one);
    await until(async () => (await session.request(two, "tools/list")).status === 200);
    const list = async (at: TeamProcess) => (await at.api("GET", "/replicas")).body.items;
    await session.call(one, "fix__echo", { message: "starts a process" });
    await until(async () => (await list(one)).some((row: { forwarded: number }) => row.forwarded > 0));
    await until(async () => (await list(one)).some((row: { processes: number }) => row.processes > 0));
    const rows = await list(one);
    expect(rows).toEqual([
      {
        id: expect.stringMatching(/^[\da-f]{8}$/),
        self: true,
        address: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
        version: expect.any(String),
        state: "serving",
        since: expect.any(String),
        lastSeen: expect.any(String),
        sessions: 1,
        processes: 1,
        forwarded: 0,
        lag: 0,
      },
      expect.objectContaining({ self: false, sessions: 0, forwarded: 1, lag: 0 }),
    ]);
    const three = await team.start();
    await until(async () => (await list(one)).length === 3);
    await two.kill("SIGTERM");
    await until(async () => (await list(one)).length === 2);
    await three.kill("SIGKILL");
    await until(async () => (await list(one)).length === 1);
    expect(await readyz(one)).toEqual({ ready: true, down: [] });
  });

  test("thirty that start at one moment share an empty database, though it has only twenty connections for them", async () => {
    const database = await crowdedDatabase(20);
    const about = { address: "a:1", publicUrl: undefined, version: "1" };
    const keys = await Promise.all(
      Array.from({ length: 30 }, async (_, n) => {
        const store = await database.open();
        await (store.replicas as Replicas).join({ id: `replica${n}`, ...about });
        expect(store.state.up).toBe(true);
        await store.close();
        return store.sealer.derive("replica channel").toString("hex");
      }),
    );
    expect(new Set(keys).size).toBe(1);
    const stores = [await database.open(), await database.open()];
    for (const { replicas: table } of stores) expect(await table?.beat("replica0", {})).toHaveLength(30);
  });

  test("gateways without the flag say that they share nothing", async () => {
    const database = await postgresDatabase();
    const one = await startReplica(database);
    expect(await readyz(one)).not.toHaveProperty("replicas");
    const two = await startReplica(database, { flags: SHARED });
    for (const gateway of [one, two]) {
      await until(async () => (await readyz(gateway))["replicas"] === "not shared");
      await until(() => gateway.stderr.includes("do not share sessions and limits"));
      const { body } = await gateway.api("GET", "/attention");
      expect(body.items).toContainEqual(
        expect.objectContaining({ kind: "replicas.unshared", severity: "warning" }),
      );
    }
    await two.kill("SIGTERM");
    await until(async () => (await readyz(one))["replicas"] === undefined);
  });

  test("a replica with another public URL is refused with both URLs", async () => {
    const database = await postgresDatabase();
    const [ours, theirs] = ["https://one.example.org", "https://two.example.org"];
    const one = await startReplica(database, { flags: [...SHARED, "--public-url", ours] });
    await expect(startReplica(database, { flags: [...SHARED, "--public-url", theirs] })).rejects.toThrow(
      /this one has https:\/\/two\.example\.org, and replica [\da-f]{8} has https:\/\/one\.example\.org/,
    );
    await startReplica(database, { flags: [...SHARED, "--public-url", ours] });
    expect((await one.api("GET", "/replicas")).body.items).toHaveLength(2);
  });

  test("the address between replicas opens only with the secret, and only for replicas", async () => {
    const team = await replicas(1);
    const [one] = team.replicas as [TeamProcess];
    const [{ address }] = (await one.api("GET", "/replicas")).body.items;
    const port = Number(address.split(":")[1]);
    await expect(fetch(`http://${address}/metamcp/team/mcp`)).rejects.toThrow();
    await expect(fetch(`https://${address}/metamcp/team/mcp`)).rejects.toThrow();
    const psk = {
      ciphers: "ECDHE-PSK-CHACHA20-POLY1305",
      maxVersion: "TLSv1.2",
      checkServerIdentity: () => undefined,
      pskCallback: () => ({ psk: Buffer.alloc(32, 7), identity: "stranger" }),
    } as const;
    const stranger = connect({ host: "127.0.0.1", port, ...psk });
    await expect(once(stranger, "secureConnect")).rejects.toThrow();
  });

  test("an address that reaches another store is reported", async () => {
    const other = await startReplica(await postgresDatabase(), { flags: SHARED });
    const [{ address }] = (await other.api("GET", "/replicas")).body.items;
    const team = await replicas(1);
    const [one] = team.replicas as [TeamProcess];
    await team.database.sql(
      `INSERT INTO metamcp_replicas (id, address, version, state, since, seen, about)
       VALUES ('00000000', '${address}', 'x', 'serving', now(), now() + interval '1 minute', '{}')`,
    );
    await until(() => one.stderr.includes("has another secret key or another store"));
    const [own] = (await one.api("GET", "/replicas")).body.items.filter((row: { self: boolean }) => row.self);
    await team.database.sql(
      `INSERT INTO metamcp_replicas (id, address, version, state, since, seen, about)
       VALUES ('11111111', '${own.address}', 'x', 'serving', now(), now() + interval '1 minute', '{}')`,
    );
    await until(() => one.stderr.includes("of replica 11111111 reaches this replica itself"));
  });
});

describe("--replica-address", () => {
  test.each([
    ["127.0.0.1:0", "needs a Postgres store"],
    ["127.0.0.1", "must be HOST:PORT"],
    ["127.0.0.1:70000", "must be HOST:PORT"],
    ["0.0.0.0:4000", "no address that other replicas can reach"],
  ])("%s is refused on an embedded store: %s", async (address, reason) => {
    await expect(
      teamProcess(temp(), { flags: ["--replica-address", address], env: { ...SECRET } }),
    ).rejects.toThrow(reason);
  });
});
