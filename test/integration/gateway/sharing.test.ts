/** Many endpoints on one fleet: the number of processes, and when they start. */
import { expect, test } from "vitest";
import { alive, gone, kill } from "../../support/processes.ts";
import { teamClient, teamGateway } from "../../support/team-gateway.ts";
import { fixture, temp } from "../../support/temp.ts";
import { until } from "../../support/until.ts";

const numbers = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

/** As a document, so that everything is one revision. */
function documentOf(servers: number, namespaces: number, journal: string): string {
  const names = numbers(servers).map((n) => `s${n}`);
  return JSON.stringify({
    version: 1,
    servers: Object.fromEntries(names.map((name) => [name, fixture("--journal", journal, "--name", name)])),
    namespaces: Object.fromEntries(
      numbers(namespaces).map((n) => [
        `n${n}`,
        { servers: Object.fromEntries(names.map((name) => [name, {}])) },
      ]),
    ),
    endpoints: Object.fromEntries(
      numbers(namespaces).map((n) => [`e${n}`, { namespaces: [`n${n}`], surface: "aggregate" }]),
    ),
  });
}

test("ten clients on five endpoints share one process per server, and a crash affects only one server", async () => {
  const folder = temp();
  const journal = folder.journal();
  const gateway = await teamGateway(folder, {
    flags: ["--apply", folder.write("team.json", documentOf(2, 5, journal.file))],
  });
  const key = await gateway.key();
  const clients = await Promise.all(numbers(10).map((n) => teamClient(gateway, `e${n % 5}`, { key })));
  const pids = await Promise.all(clients.map((client) => client.call("s0__pid")));
  expect(new Set(pids).size).toBe(1);
  await Promise.all(clients.map((client) => client.tools()));
  expect(journal.pids()).toHaveLength(2);
  const other = await clients[0]?.call("s1__pid");
  await clients[1]?.call("s0__crash");
  await until(() => !alive(Number(pids[0])));
  expect(await Promise.all(clients.map((client) => client.call("s1__pid")))).toEqual(
    clients.map(() => other),
  );
  expect(await clients[2]?.call("s0__pid")).not.toBe(pids[0]);
});

test("a hundred namespaces over twenty servers start a server at its first use and only once, and a kill affects only one", async () => {
  const folder = temp();
  const journal = folder.journal();
  const gateway = await teamGateway(folder, {
    flags: ["--apply", folder.write("team.json", documentOf(20, 100, journal.file))],
  });
  const key = await gateway.key();
  const client = await teamClient(gateway, "e99", { key });
  expect((await gateway.api("GET", "/namespaces?limit=500")).body.items).toHaveLength(100);
  expect(journal.pids()).toEqual([]);
  await client.call("s7__pid");
  expect(journal.pids()).toHaveLength(1);

  const others = await Promise.all([0, 33, 66].map((n) => teamClient(gateway, `e${n}`, { key })));
  const all = [client, ...others];
  const pidsOf = (clients: typeof all): Promise<string[][]> =>
    Promise.all(clients.map((one) => Promise.all(numbers(20).map((n) => one.call(`s${n}__pid`)))));
  const [before = [], ...same] = await pidsOf(all);
  expect(same).toEqual(others.map(() => before));
  expect(journal.pids().map(String).toSorted()).toEqual(before.toSorted());

  kill(Number(before[3]));
  await gone(Number(before[3]));
  const [after = [], ...again] = await pidsOf(all);
  expect(again).toEqual(others.map(() => after));
  expect(after.map((pid, n) => pid === before[n])).toEqual(numbers(20).map((n) => n !== 3));
  expect(journal.pids()).toHaveLength(21);
});
