/**
 * With `audit` and `required`: every call that was sent has two records, and what inner layers refuse or
 * answer themselves fills no log.
 */
import { expect, test } from "vitest";
import { layeredTeam } from "../../support/layered-team.ts";
import { auditRecords, type Row } from "../../support/records.ts";
import { teamClient } from "../../support/team-gateway.ts";
import { until } from "../../support/until.ts";

const REQUIRED = { use: "audit", required: true };
const READ_ONLY = { tools: [{ server: "fix", tool: "echo", annotations: { readOnlyHint: true } }] };
const CALLS = 60;

/** Makes equal calls through `audit` and this layer inside of it. */
async function callMany(inner: object) {
  const team = await layeredTeam({ namespace: READ_ONLY, endpoint: { middleware: [REQUIRED, inner] } });
  const client = await teamClient(team.gateway, "aggregate", { key: team.key });
  for (let n = 0; n < CALLS; n++) await client.call("fix__echo", { message: "same" });
  return team;
}

const idsOf = (rows: readonly Row[]): readonly unknown[] => rows.map(({ call }) => call);

test("calls that an inner layer refuses are counted, and have no record of a beginning", async () => {
  const { gateway, api, reached } = await callMany({ use: "rate-limit", requests: 3, per: "1h" });
  expect(reached("echo")).toBe(3);
  const refused = async (): Promise<readonly Row[]> =>
    (await api("GET", "/audit?limit=500&outcome=refused")).body.items;
  const total = async (): Promise<number> =>
    (await refused()).reduce((sum, { count = 1 }) => sum + Number(count), 0);
  await until(async () => (await total()) === CALLS - 3, { what: "all refused calls" });
  expect((await refused()).length).toBeLessThan(CALLS - 3);
  const ended = await auditRecords(gateway, "&kind=call&outcome=ok", 3);
  expect(idsOf(await auditRecords(gateway, "&kind=begun"))).toEqual(idsOf(ended));
  expect((await api("GET", "/audit/verify")).body).toEqual({ ok: true, count: expect.any(Number) as number });
});

test("answers of the cache are recorded, and begin no call", async () => {
  const { gateway, api, reached } = await callMany({ use: "cache", ttlMs: 3_600_000 });
  expect(reached("echo")).toBe(1);
  expect(await auditRecords(gateway, "&kind=call&outcome=ok", CALLS)).toHaveLength(CALLS);
  expect(await auditRecords(gateway, "&kind=begun")).toHaveLength(1);
  expect((await api("GET", "/audit/verify")).body).toEqual({ ok: true, count: expect.any(Number) as number });
});
