// CPU and latency of a call that another replica has to answer, and CPU of one that none has to.
import { endpointWith, loadOf } from "../gateway/calls.mjs";
import { countingPostgres } from "../gateway/postgres.mjs";
import { row } from "../gateway/row.mjs";
import { allOf, fixtures } from "../gateway/serve.mjs";
import { measure as inTurn, ratio } from "../overhead/http/rounds.mjs";
import { median } from "../overhead/median.mjs";
import { Team } from "./team.mjs";

const ROUNDS = { requests: 1_500, warm: 3_000, inFlight: 32, rounds: 15 };
const WARM = { ...ROUNDS, warm: 5_000, rounds: 6 };
const SINGLE = 400;

function document() {
  const servers = fixtures(1);
  return { servers, namespaces: { n: allOf(servers) }, endpoints: { e: { namespaces: ["n"] } } };
}

/** The elapsed milliseconds of single calls, one after the other, of both in turn. */
async function latencies(loads) {
  const found = loads.map(() => []);
  for (let n = 0; n < SINGLE; n++)
    for (const [at, { load }] of loads.entries()) found[at].push(await load.calls(1, 1));
  return found.map(median);
}

export async function measure() {
  const team = await new Team().open(3, { document: document() });
  const [owner, other] = team.members;
  const credentials = await owner.key();
  await team.inStep("e", credentials);
  const headers = await owner.openAt("e", credentials);
  const database = await countingPostgres();
  const alone = await endpointWith("alone on Postgres", [], { store: database.store });
  const both = { cpu: () => owner.cpu() + other.cpu() };
  const here = { name: "where it arrives", server: owner, url: owner.urlOf("e"), headers };
  const there = { name: "forwarded", server: both, url: other.urlOf("e"), headers };
  const loads = [await loadOf(here), await loadOf(there), await loadOf(alone)];
  // The owner serves two kinds of requests, and V8 compiles its code again when it meets the other kind.
  await inTurn(loads, WARM);
  const figures = await inTurn(loads, ROUNDS);
  const [direct, hop] = await latencies([await loadOf(here), await loadOf(there)]);
  await team.close();
  await alone.server.stop();
  await database.drop();
  const micros = (name) => `${median(figures.get(name).cpu).toFixed(0)} µs`;
  return [
    row(
      "CPU of a forwarded call at both replicas ÷ one served where it arrives",
      ratio(figures, there.name, here.name),
      {
        limit: 2,
        note: `${micros(there.name)} and ${micros(here.name)}`,
      },
    ),
    row("… added p50, one call at a time", hop - direct, {
      limit: 1,
      unit: " ms",
      note: `${hop.toFixed(2)} and ${direct.toFixed(2)} ms`,
    }),
    row(
      "CPU of a call, two other replicas alive ÷ a gateway alone on Postgres",
      ratio(figures, here.name, alone.name),
      {
        limit: 1.05,
        note: `${micros(here.name)} and ${micros(alone.name)}`,
      },
    ),
  ];
}
