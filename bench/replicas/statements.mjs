// Counts the SQL statements that requests cause: calls and lists at all replicas, most of them forwarded.
import { setTimeout as pause } from "node:timers/promises";
import { GUARDED } from "../gateway/calls.mjs";
import { row } from "../gateway/row.mjs";
import { allOf, fixtures } from "../gateway/serve.mjs";
import { countByKind } from "../gateway/statements.mjs";
import { Load } from "../overhead/http/load.mjs";
import { Team } from "./team.mjs";

const ROUNDS = 8;
const REQUESTS = 1_000;
const CALL = { name: "mcp_call", arguments: { server: "s0", tool: "echo", args: { message: "ok" } } };

export async function measure() {
  const servers = fixtures(1);
  const endpoints = { e: { namespaces: ["n"], middleware: GUARDED } };
  const team = await new Team({ counted: true }).open(3, {
    document: { servers, namespaces: { n: allOf(servers) }, endpoints },
  });
  const [first] = team.members;
  const credentials = await first.key();
  await team.inStep("e", credentials);
  const headers = await first.openAt("e", credentials);
  const loads = team.members.map(
    (member) =>
      new Load(member.urlOf("e"), [
        { params: CALL, headers },
        { method: "tools/list", params: {}, headers },
        { params: CALL, headers },
        { method: "resources/list", params: {}, headers },
      ]),
  );
  const all = () => Promise.all(loads.map((load) => load.calls(REQUESTS, 8)));
  await all();
  await pause(2_000);
  const from = team.statements.length;
  const since = performance.now();
  for (let round = 0; round < ROUNDS; round++) await all();
  const lasted = (performance.now() - since) / 1_000;
  const { others, ...timed } = countByKind(team.statements.slice(from));
  for (const load of loads) load.close();
  await team.close();
  const requests = ROUNDS * REQUESTS * loads.length;
  const rates = Object.entries(timed).map(([kind, times]) => `${kind} ${(times / lasted).toFixed(1)}/s`);
  const named = [...new Set(others.map((text) => text.replaceAll(/\s+/g, " ").slice(0, 60)))].join("; ");
  return [
    row("store statements per request", others.length / requests, {
      limit: 0,
      digits: 5,
      note: `of ${requests.toLocaleString("en")} requests, ${Math.round(requests / lasted)}/s; by timers: ${rates.join(", ")}${named && `; others: ${named}`}`,
    }),
  ];
}
