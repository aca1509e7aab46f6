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
/** Two processes of one program differ by several percent all their lives, so many are compared. */
const TEAMS = 3;
const AMONG = { requests: 1_500, warm: 8_000, inFlight: 32, rounds: 7 };

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

async function forwarding() {
  const team = await new Team().open(3, { document: document() });
  const [owner, other] = team.members;
  const credentials = await owner.key();
  await team.inStep("e", credentials);
  const headers = await owner.openAt("e", credentials);
  const both = { cpu: () => owner.cpu() + other.cpu() };
  const here = { name: "where it arrives", server: owner, url: owner.urlOf("e"), headers };
  const there = { name: "forwarded", server: both, url: other.urlOf("e"), headers };
  const loads = [await loadOf(here), await loadOf(there)];
  // The owner serves two kinds of requests, and V8 compiles its code again when it meets the other kind.
  await inTurn(loads, WARM);
  const figures = await inTurn(loads, ROUNDS);
  const [direct, hop] = await latencies([await loadOf(here), await loadOf(there)]);
  await team.close();
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
  ];
}

/**
 * Three replicas, each called in its own session, and as many gateways alone. Returns the µs of a call, the mean
 * of the three, in each round.
 */
async function amongOthers() {
  const team = await new Team().open(3, { document: document() });
  const credentials = await team.members[0].key();
  await team.inStep("e", credentials);
  const targets = [];
  const databases = [];
  for (const [at, server] of team.members.entries()) {
    const headers = await server.openAt("e", credentials);
    targets.push({ name: `replica ${at}`, server, url: server.urlOf("e"), headers });
    const database = await countingPostgres();
    databases.push(database);
    targets.push(await endpointWith(`alone ${at}`, [], { store: database.direct, flags: team.commonFlags }));
  }
  const loads = [];
  for (const target of targets) loads.push(await loadOf(target));
  const figures = await inTurn(loads, AMONG);
  await team.close();
  for (const { name, server } of targets) if (name.startsWith("alone")) await server.stop();
  for (const { drop } of databases) await drop();
  const mean = (kind, round) => {
    const found = [...figures].filter(([name]) => name.startsWith(kind)).map(([, { cpu }]) => cpu[round]);
    return found.reduce((sum, one) => sum + one, 0) / found.length;
  };
  const rounds = Array.from({ length: AMONG.rounds }, (_, round) => round);
  return rounds.map((round) => ({ among: mean("replica", round), alone: mean("alone", round) }));
}

async function notForwarding() {
  const teams = [];
  for (let n = 0; n < TEAMS; n++) teams.push(await amongOthers());
  const of = (kind) => `${median(teams.flat().map((one) => one[kind])).toFixed(0)} µs`;
  const ratioOf = (rounds) => median(rounds.map(({ among, alone }) => among / alone));
  return row("CPU of a call, two other replicas alive ÷ a gateway alone on Postgres", ratioOf(teams.flat()), {
    limit: 1.05,
    note: `${of("among")} and ${of("alone")}; three of each ${TEAMS} times: ${teams.map((rounds) => ratioOf(rounds).toFixed(2)).join(", ")}`,
  });
}

export async function measure() {
  return [...(await forwarding()), await notForwarding()];
}
