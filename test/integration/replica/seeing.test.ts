/** Every replica shows and rules the whole gateway. */
import { isDeepStrictEqual } from "node:util";
import { expect, test } from "vitest";
import { collector } from "../../support/otlp.ts";
import { RawSession, replicas, type Team } from "../../support/replica-team.ts";
import { onPostgres } from "../../support/replicas.ts";
import { atEnd, shared } from "../../support/shared.ts";
import { ADMIN_TOKEN } from "../../support/team-gateway.ts";
import type { TeamProcess } from "../../support/team-process.ts";
import { until } from "../../support/until.ts";
import { watchEvents } from "../../support/watch-events.ts";

// biome-ignore lint/suspicious/noExplicitAny: tests read any field
type Row = any;

async function get(at: TeamProcess, path: string): Promise<Row> {
  const { status, body } = await at.api("GET", path);
  expect({ path, status, body }).toMatchObject({ status: 200 });
  return body;
}

/** The ids of the replicas, in the order of the gateways. */
async function idsOf({ replicas }: Team): Promise<readonly string[]> {
  return await Promise.all(
    replicas.map(async (at) => (await get(at, "/replicas")).items.find(({ self }: Row) => self).id),
  );
}

/** Stops the process until the test ends. */
function freeze({ pid }: TeamProcess): void {
  process.kill(pid, "SIGSTOP");
  atEnd(() => process.kill(pid, "SIGCONT"));
}

onPostgres("any replica shows the whole", () => {
  const team = shared(async () => {
    const traces = await collector();
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: traces.url };
    const made = Object.assign(await replicas(3, undefined, { env }), { traces });
    for (const at of made.replicas)
      await until(async () => (await get(at, "/replicas")).items.length === 3, { what: "all replicas" });
    return made;
  });

  test("sessions of all, ended from anywhere", async () => {
    const { replicas: all, key } = team();
    const ids = await idsOf(team());
    const sessions = await Promise.all(all.map((at) => new RawSession(key).open(at)));
    for (const at of all) {
      const { items, missing } = await get(at, "/sessions");
      expect(missing).toBeUndefined();
      expect(items.map(({ replica }: Row) => replica).sort()).toEqual(ids.toSorted());
    }
    const [one, two, three] = all as [TeamProcess, TeamProcess, TeamProcess];
    const { items } = await get(two, "/sessions");
    const ofOne = items.find(({ replica }: Row) => replica === ids[0]);
    expect((await three.api("DELETE", `/sessions/${ofOne.id}`)).status).toBe(204);
    expect((await (sessions[0] as RawSession).request(one, "tools/list")).status).toBe(404);
    for (const at of all) expect((await get(at, "/sessions")).items).toHaveLength(2);
    expect((await three.api("DELETE", `/sessions/${ofOne.id}`)).status).toBe(404);
  });

  test("calls, statistics and use of tools of all, in one order and one sum", async () => {
    const { replicas: all, key } = team();
    const ids = await idsOf(team());
    const before = (await get(all[0] as TeamProcess, "/stats?by=tool")).totals.calls;
    for (const [at, gateway] of all.entries()) {
      const session = await new RawSession(key).open(gateway);
      for (let n = 0; n <= at; n++) await session.call(gateway, "fix__echo", { message: `${at} ${n}` });
    }
    const texts = ["2 2", "2 1", "2 0", "1 1", "1 0", "0 0"];
    for (const at of all) {
      const { items } = await get(at, "/calls?tool=echo&limit=6");
      expect(items.map((call: Row) => call.arguments.message)).toEqual(texts);
      expect(items.map(({ replica }: Row) => ids.indexOf(replica))).toEqual([2, 2, 2, 1, 1, 0]);
      const first = await get(at, "/calls?tool=echo&limit=4");
      const rest = await get(at, `/calls?tool=echo&limit=2&cursor=${first.nextCursor}`);
      expect([...first.items, ...rest.items]).toEqual(items);
      for (const call of items) expect(await get(at, `/calls/${call.id}`)).toEqual(call);
      const { totals, rows, sessions, processes } = await get(at, "/stats?by=tool");
      expect(totals.calls).toBe(before + 6);
      expect(rows[0]).toMatchObject({ tool: "echo", calls: before + 6 });
      expect({ sessions, processes }).toMatchObject({ processes: 3 });
      const { items: tools } = await get(at, "/tools?q=echo");
      expect(tools.find(({ tool }: Row) => tool === "echo")).toMatchObject({ calls: before + 6 });
    }
    const { status, body } = await (all[0] as TeamProcess).api("GET", "/calls/00000000-1");
    expect([status, body.detail]).toEqual([404, expect.stringContaining("replica 00000000")]);
  });

  test("a server's states, history and output of all, and a restart of all that run it", async () => {
    const { replicas: all, key, journal } = team();
    const ids = await idsOf(team());
    const [one, two, three] = all as [TeamProcess, TeamProcess, TeamProcess];
    for (const at of [one, two])
      await (await new RawSession(key).open(at)).call(at, "fix__echo", { message: "" });
    const [{ uuid }] = (await get(one, "/mcp-servers")).items;
    const path = `/mcp-servers/${uuid}`;
    const running = async (at: TeamProcess): Promise<number> => (await get(at, path)).status.instances;
    const before = await running(three);
    expect(before).toBeGreaterThanOrEqual(2);
    for (const at of all) {
      const { status } = await get(at, path);
      expect(status).toMatchObject({ connected: true, instances: before });
      expect(status.replicas.map(({ replica }: Row) => replica).sort()).toEqual(ids.toSorted());
      expect((await get(at, "/attention")).counts.servers).toMatchObject({ connected: 1 });
      const connects = (await get(at, `${path}/history`)).items.filter(
        ({ state }: Row) => state === "connected",
      );
      expect(new Set(connects.map(({ replica }: Row) => replica)).size).toBe(before);
    }
    const pids = journal.pids().length;
    const { connection } = (await three.api("POST", `${path}/connect`)).body;
    expect(connection).toMatchObject({ connected: true, instances: before });
    expect(journal.pids()).toHaveLength(pids + before);
    const [running1] = (await get(three, path)).status.replicas.filter(({ connected }: Row) => connected);
    const { replica, items } = await get(two, `${path}/logs?replica=${running1.replica}`);
    expect([replica, items]).toEqual([running1.replica, expect.any(Array)]);
    expect((await three.api("GET", `${path}/logs?replica=none`)).status).toBe(404);
  });

  test("who watches at one replica sees the events of all, of each once", async () => {
    const { replicas: all, key } = team();
    const ids = await idsOf(team());
    const [one, two, three] = all as [TeamProcess, TeamProcess, TeamProcess];
    const [atTwo, atThree] = [await watchEvents(two), await watchEvents(three)];
    const echoed = (events: Row[], replica: string | undefined): Row[] =>
      events.filter((event) => event.type === "call" && event.replica === replica);
    const session = await new RawSession(key).open(one);
    for (const events of [atTwo, atThree])
      await until(
        async () => {
          await session.call(one, "fix__echo", { message: "seen" });
          return echoed(events, ids[0]).length > 0;
        },
        { what: "a call of the first replica" },
      );
    const other = await new RawSession(key).open(one);
    await one.api("POST", "/namespaces", { name: "seen" });
    expect((await other.fetch(one, { method: "DELETE" })).status).toBe(204);
    for (const events of [atTwo, atThree]) {
      const closed = ({ type, state, replica }: Row) =>
        type === "session" && state === "closed" && replica === ids[0];
      await until(() => events.some(closed), { what: "the end of a session" });
      expect(events.filter(closed)).toHaveLength(1);
      const created = events.filter(({ type, action }: Row) => type === "admin" && action === "create");
      expect(created).toMatchObject([{ replica: ids[0], object: { name: "seen" } }]);
      await until(() => events.some(({ type }: Row) => type === "revision"));
      expect(events.filter(({ type }: Row) => type === "revision")).toHaveLength(1);
      const seen = echoed(events, ids[0]).map(({ id }: Row) => id);
      expect(seen).toEqual([...new Set(seen)]);
    }
  });

  test("metrics, audit records and traces name their replica", async () => {
    const { replicas: all, key } = team();
    const ids = await idsOf(team());
    for (const [n, at] of all.entries()) {
      await (await new RawSession(key).open(at)).call(at, "fix__echo", { message: "recorded" });
      const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
      const text = await (await fetch(`${at.url}/metrics`, { headers })).text();
      const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
      expect(lines.filter((line) => !line.includes(`{replica="${ids[n]}"`))).toEqual([]);
    }
    await until(async () => {
      const { items } = await get(all[0] as TeamProcess, "/audit?kind=call");
      return ids.every((id) => items.some(({ replica }: Row) => replica === id));
    });
    expect(await get(all[1] as TeamProcess, "/audit/verify")).toMatchObject({ ok: true });
    const named = (id: string) => `{"key":"service.instance.id","value":{"stringValue":"${id}"}}`;
    await until(() => ids.every((id) => JSON.stringify(team().traces.requests).includes(named(id))));
  });

  test("a replica that does not answer is named, and the rest is shown", async () => {
    const [one, two, three] = team().replicas as [TeamProcess, TeamProcess, TeamProcess];
    const ids = await idsOf(team());
    await get(one, "/sessions");
    // Nobody removes it after 8 s, which could be too soon on a busy machine.
    await team().database.sql("CREATE RULE kept AS ON DELETE TO metamcp_replicas DO INSTEAD NOTHING");
    freeze(three);
    const silent = { replica: ids[2], missing: "silent" };
    const found = async (at: TeamProcess, path: string, is: (body: Row) => boolean) =>
      await until(async () => is(await get(at, path)), { what: path });
    // One that is only slow is named for a moment too.
    await Promise.all(
      [one, two].flatMap((at) => [
        found(at, "/replicas", ({ items }) =>
          items.some(({ id, state }: Row) => id === ids[2] && state === "silent"),
        ),
        ...["/sessions", "/calls", "/stats"].map((path) =>
          found(at, path, ({ missing }) => isDeepStrictEqual(missing, [{ replica: ids[2], why: "silent" }])),
        ),
        found(at, "/mcp-servers", ({ items }) =>
          items[0].status.replicas.some((row: Row) => isDeepStrictEqual(row, silent)),
        ),
        found(at, "/attention", ({ items }) =>
          items.some(
            ({ kind, replicas: of }: Row) => kind === "replica.silent" && isDeepStrictEqual(of, [ids[2]]),
          ),
        ),
      ]),
    );
    const { status, body } = await one.api("DELETE", "/sessions/unknown");
    expect({ status, detail: body.detail }).toEqual({
      status: 503,
      detail: `replica ${ids[2]} does not answer, and it may have the session`,
    });
  });
});
