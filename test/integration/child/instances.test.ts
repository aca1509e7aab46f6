/** Several processes of one server behind a gateway, seen by clients, the admin API and the server itself. */
import { expect, test } from "vitest";
import { gateway as personal } from "../../support/gateway.ts";
import { type LayeredTeam, layeredTeam } from "../../support/layered-team.ts";
import { textOf } from "../../support/meta.ts";
import { alive, gone, kill } from "../../support/processes.ts";
import { type TeamClient, teamClient } from "../../support/team-gateway.ts";
import { fixture, temp } from "../../support/temp.ts";
import { until } from "../../support/until.ts";

const clientOf = ({ gateway, key }: LayeredTeam): Promise<TeamClient> =>
  teamClient(gateway, "aggregate", { key });
const pidOf = async (client: TeamClient): Promise<number> => Number(await client.call("fix__pid"));

/** Starts a call that hangs at the server. `lost` resolves with its failure. */
async function hang(client: TeamClient, { reached }: LayeredTeam): Promise<{ lost: Promise<string> }> {
  const before = reached("count_unsafe");
  const args = { key: `hangs ${before}`, hangs: 1 };
  const lost = client.call("fix__count_unsafe", args).catch((error: Error) => error.message);
  await until(() => reached("count_unsafe") > before, { what: "the call to reach the server" });
  return { lost };
}

async function statusOf({ api }: LayeredTeam): Promise<{ uuid: string; instances?: number; state: string }> {
  const { body } = await api("GET", "/mcp-servers");
  return { uuid: body.items[0].uuid, ...body.items[0].status };
}

test("a second process starts when the first is busy, sessions stay at their process, and a kill affects only its calls", async () => {
  const team = await layeredTeam({ server: { instances: 2 } });
  const [a, b, c] = [await clientOf(team), await clientOf(team), await clientOf(team)];
  const first = await pidOf(a);
  // The process is idle, so no second one is needed.
  expect(await pidOf(c)).toBe(first);
  expect(await statusOf(team)).toMatchObject({ instances: 1 });

  const { lost } = await hang(a, team);
  const second = await pidOf(b);
  expect(second).not.toBe(first);
  expect([await pidOf(b), await pidOf(c), await pidOf(b)]).toEqual([second, first, second]);
  expect(await statusOf(team)).toMatchObject({ instances: 2, state: "active" });

  const hangingOnSecond = await hang(b, team);
  kill(first);
  expect(await lost).toMatch(/server_unavailable|Do not repeat|died|lost/i);
  await gone(first);
  expect(alive(second)).toBe(true);
  // The second process is busy, so the first one is started again for its sessions.
  const third = await pidOf(c);
  expect([first, second]).not.toContain(third);
  expect(await pidOf(b)).toBe(second);
  kill(second);
  await hangingOnSecond.lost;
  expect(team.journal.early()).toEqual([]);
});

test("a changed number of instances reconnects the server, and a server with a URL has no instances", async () => {
  const team = await layeredTeam({ server: { instances: 3 } });
  const client = await clientOf(team);
  const before = await pidOf(client);
  const { uuid } = await statusOf(team);
  const { status, body } = await team.api("PATCH", `/mcp-servers/${uuid}`, { instances: 1 });
  expect([status, body.connection]).toMatchObject([200, { state: "idle", connected: true }]);
  expect(body.connection).not.toHaveProperty("instances");
  await gone(before);
  expect(await pidOf(client)).not.toBe(before);
  const remote = await team.api("POST", "/mcp-servers", {
    name: "r",
    url: "http://127.0.0.1:9",
    instances: 2,
  });
  expect([remote.status, remote.body.errors?.[0]?.path]).toEqual([422, "/instances"]);
});

test("all instances count towards the connection limit, and further calls share the running ones", async () => {
  const team = await layeredTeam({ server: { instances: 16 }, flags: ["--max-connections", "2"] });
  const clients = await Promise.all(Array.from({ length: 6 }, () => clientOf(team)));
  const calls = [];
  for (const client of clients) calls.push(await hang(client, team));
  expect(team.journal.pids()).toHaveLength(2);
  expect(await Promise.all(clients.map(pidOf)).then((pids) => new Set(pids).size)).toBe(2);
  team.journal.pids().forEach(kill);
  for (const { lost } of calls) await lost;
});

test("without sessions each call goes to the least loaded instance", async () => {
  const team = await layeredTeam({ server: { instances: 2 }, endpoint: { stateless: true } });
  const client = await clientOf(team);
  const { lost } = await hang(client, team);
  const busy = team.journal.pids()[0] as number;
  const free = await pidOf(client);
  expect(free).not.toBe(busy);
  expect(await pidOf(client)).toBe(free);
  kill(busy);
  await lost;
});

test("instances can be set in a config file too", async () => {
  const folder = temp();
  folder.writeConfig({ a: { ...fixture("--journal", folder.journal().file), instances: 4 } });
  const client = personal(folder);
  await client.initialize({});
  // One client is one session.
  const pids = await Promise.all([1, 2, 3].map(async () => textOf(await client.mcpCall("a", "pid", {}))));
  expect(new Set(pids).size).toBe(1);
  expect(folder.journal().pids()).toHaveLength(1);
  await client.close();
});
