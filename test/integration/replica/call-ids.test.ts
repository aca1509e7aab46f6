/**
 * Ids of calls and of tries with two gateways on one Postgres: an id of one never stands for something of the
 * other.
 */
import { expect, test } from "vitest";
import {
  inStep,
  makeTeam,
  onPostgres,
  type Replica,
  request2026,
  twoReplicas,
} from "../../support/replicas.ts";
import { teamProcess } from "../../support/team-process.ts";
import { fixture, temp } from "../../support/temp.ts";
import { sqliteDatabase } from "../../support/test-databases.ts";
import { until } from "../../support/until.ts";

const echo = (gateway: Replica, key: string, message: string) =>
  request2026(gateway, "all", key, "tools/call", { name: "fix__echo", arguments: { message } });

const callsOf = async (gateway: Pick<Replica, "api">) => (await gateway.api("GET", "/calls")).body.items;

onPostgres("two gateways", () => {
  test("a call is read and repeated where it was made, and nowhere else", async () => {
    const { one, two } = await twoReplicas();
    const key = await makeTeam(one, { fix: fixture() }, { all: { surface: "aggregate" } });
    const annotations = { readOnlyHint: true };
    await one.api("PATCH", "/namespaces/team", { tools: [{ server: "fix", tool: "echo", annotations }] });
    await inStep([one, two], key, "all");
    for (const [gateway, message] of [
      [one, "here"],
      [two, "there"],
    ] as const)
      await echo(gateway, key, message);
    const [here] = await until(async () => ((await callsOf(one)).length === 1 ? callsOf(one) : undefined));
    const [there] = await until(async () => ((await callsOf(two)).length === 1 ? callsOf(two) : undefined));
    expect([here.arguments, there.arguments]).toEqual([{ message: "here" }, { message: "there" }]);
    expect(here.id).toMatch(/^[0-9a-f]{8}-1$/);
    expect(there.id).not.toBe(here.id);

    expect((await one.api("GET", `/calls/${here.id}`)).body).toEqual(here);
    const [replica] = here.id.split("-");
    const at = expect.stringContaining(`replica ${replica}`);
    expect(await two.api("GET", `/calls/${here.id}`)).toMatchObject({ status: 404, body: { detail: at } });
    expect(await two.api("POST", `/calls/${here.id}/replay`)).toMatchObject({
      status: 404,
      body: { detail: at },
    });
    // The number alone would be another call.
    expect((await two.api("GET", "/calls/1")).status).toBe(404);
    expect(await callsOf(two)).toHaveLength(1);
  });

  test("a question of a try is answered at its gateway; the other one names it", async () => {
    const { one, two } = await twoReplicas();
    const key = await makeTeam(one, { fix: fixture() }, { all: { surface: "aggregate" } });
    await inStep([one, two], key, "all");
    const answer = { question: "1", action: "accept" };
    const unknown = await one.api("POST", "/endpoints/all/try/0123abcd-1/answers", answer);
    expect(unknown).toMatchObject({
      status: 404,
      body: { detail: expect.stringContaining("replica 0123abcd") },
    });
  });
});

test("on an embedded store a call is a number, as there is only one process", async () => {
  const folder = temp();
  const { url } = sqliteDatabase();
  const gateway = await teamProcess(folder, { flags: ["--store", url] });
  const key = await makeTeam(gateway, { fix: fixture() }, { all: { surface: "aggregate" } });
  await request2026(gateway, "all", key, "tools/call", { name: "fix__echo", arguments: { message: "x" } });
  const [call] = await until(async () =>
    (await callsOf(gateway)).length === 1 ? callsOf(gateway) : undefined,
  );
  expect(call.id).toBe(1);
  expect((await gateway.api("GET", "/calls/1")).body).toEqual(call);
});
