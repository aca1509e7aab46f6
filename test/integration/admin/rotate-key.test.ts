/** Keys rotate: the new text works at once, the former one for the overlap; id and rights stay. */
import { expect, test } from "vitest";
import { metamcp } from "../../support/command.ts";
import { layeredTeam } from "../../support/layered-team.ts";
import { shared } from "../../support/shared.ts";
import { ADMIN_TOKEN, teamClient } from "../../support/team-gateway.ts";
import { temp } from "../../support/temp.ts";

const team = shared(async () => {
  const folder = temp();
  Object.assign(folder.env, { METAMCP_ADMIN_TOKEN: ADMIN_TOKEN });
  const made = await layeredTeam({ folder });
  const works = async (key: string) =>
    await teamClient(made.gateway, "aggregate", { key }).then(
      () => true,
      () => false,
    );
  return { ...made, folder, works };
});

test("both texts work during the overlap, and id, rights and expiry's length stay", async () => {
  const { api, works } = team();
  const expiresAt = new Date(Date.now() + 86_400_000).toISOString();
  const made = (
    await api("POST", "/api-keys", { name: "ci", endpoints: ["aggregate"], tiers: ["write"], expiresAt })
  ).body;
  const rotated = (await api("POST", `/api-keys/${made.uuid}/rotate`, { overlapHours: 1 })).body;
  expect(rotated).toMatchObject({ uuid: made.uuid, name: "ci", tiers: ["write"], endpoints: made.endpoints });
  expect(rotated.key).not.toBe(made.key);
  expect(Date.parse(rotated.overlapUntil) - Date.parse(rotated.rotatedAt)).toBeGreaterThan(3_500_000);
  expect(Date.parse(rotated.expiresAt)).toBeGreaterThanOrEqual(Date.parse(expiresAt));
  expect([await works(made.key), await works(rotated.key)]).toEqual([true, true]);
  const again = (await api("POST", `/api-keys/${made.uuid}/rotate`, { overlapHours: 0 })).body;
  expect(again.overlapUntil).toBeUndefined();
  expect([await works(made.key), await works(rotated.key), await works(again.key)]).toEqual([
    false,
    false,
    true,
  ]);
  const { items } = (await api("GET", "/api-keys")).body;
  const listed = items.filter(({ uuid }: { uuid: string }) => uuid === made.uuid);
  expect(listed).toHaveLength(1);
  expect(JSON.stringify(items)).not.toContain("ash");
});

test("an overlap does not make the former text live longer than keys may", async () => {
  const { api } = team();
  const made = (await api("POST", "/api-keys", { name: "old", endpoints: "all" })).body;
  await api("PATCH", "/settings", { keyLifetimeDays: 1 });
  const { overlapUntil } = (await api("POST", `/api-keys/${made.uuid}/rotate`, { overlapHours: 720 })).body;
  expect(Date.parse(overlapUntil) - Date.parse(made.createdAt)).toBe(86_400_000);
  await api("PATCH", "/settings", { keyLifetimeDays: null });
});

test("the command line rotates by name, and the audit log says so", async () => {
  const { api, gateway, folder, works } = team();
  const made = (await api("POST", "/api-keys", { name: "by-name", endpoints: "all" })).body;
  const run = await metamcp(folder, [
    "gateway",
    "keys",
    "rotate",
    "by-name",
    "--overlap",
    "2h",
    "--gateway",
    gateway.url,
  ]);
  expect(run).toMatchObject({ code: 0 });
  const [key = ""] = run.out.split("\n");
  expect([await works(made.key), await works(key)]).toEqual([true, true]);
  const { items } = (await api("GET", "/audit?kind=admin")).body;
  expect(items[0]).toMatchObject({ action: "rotate", object: { kind: "api-key", name: "by-name" } });
});
