// A server with `placement: "one"` whose holder is killed every 5 s under load: never two processes, and how
// long nobody answered.
import { setTimeout as pause } from "node:timers/promises";
import { row } from "../gateway/row.mjs";
import { node } from "../gateway/serve.mjs";
import { fresh } from "../overhead/http/running.mjs";
import { BenchClient } from "./clients.mjs";
import { CHILD, Team } from "./team.mjs";

const KILLS = 4;
const KILL_EVERY_MS = 5_000;
const CALLERS = 6;
/** After a kill its lease must run out first. */
const KILL_GAP_MS = 20_000;
const DRAIN_GAP_MS = 2_000;

function document(journal) {
  return {
    servers: { journal: { command: node, args: [CHILD, journal], placement: "one" } },
    namespaces: { n: { servers: { journal: {} } } },
    endpoints: { e: { namespaces: ["n"], surface: "aggregate" } },
  };
}

/** Calls all the time through the balancer. Notes when answers came. */
async function callOn(team, headers, state) {
  const options = {
    kind: "plain, 2026-07-28",
    surface: "aggregate",
    endpoint: "e",
    url: team.balancer.url,
    headers,
  };
  const client = await new BenchClient(options).connect();
  for (let n = 0; !state.done; n++) {
    const answered = await client.call("write", { key: `one-${Math.random()}-${n}` }).then(
      () => true,
      () => false,
    );
    if (answered) state.answers.push(performance.now());
    else await pause(50);
  }
}

/** The longest time without an answer that begins in this time. */
function longestGap(answers, from, to) {
  const within = answers.filter((at) => at >= from).sort((a, b) => a - b);
  let last = from;
  let longest = 0;
  for (const at of within) {
    longest = Math.max(longest, at - last);
    last = at;
    if (last > to) break;
  }
  return within.length === 0 || last < to ? Math.max(longest, to - last) : longest;
}

/** The most processes of the server that ran at the same time, by what they noted. */
function mostAtOnce(journal) {
  const spans = new Map();
  for (const { pid, at } of journal) {
    const span = spans.get(pid) ?? { from: at, to: at };
    spans.set(pid, { from: span.from, to: at });
  }
  const all = [...spans.values()];
  return Math.max(
    ...all.map(({ from }) => all.filter((other) => other.from <= from && other.to >= from).length),
  );
}

/** The replica whose process answered last. */
function holder(team) {
  const last = team.journal.at(-1)?.pid;
  return team.names.find((_, at) => team.members[at].childPids().includes(last)) ?? team.names[0];
}

export async function measure() {
  const journal = fresh("journal");
  const team = await new Team({ flags: ["--drain", "0"], journal }).open(3, { document: document(journal) });
  const headers = await team.members[0].key();
  await team.inStep("e", headers);
  const state = { answers: [], done: false };
  const callers = Array.from({ length: CALLERS }, () => callOn(team, headers, state));
  await pause(KILL_EVERY_MS);
  const from = performance.now();
  for (let n = 0; n < KILLS; n++) {
    const due = performance.now() + KILL_EVERY_MS;
    await team.kill(holder(team));
    await pause(Math.max(0, due - performance.now()));
  }
  await pause(KILL_GAP_MS);
  const killed = longestGap(state.answers, from, performance.now());
  const drainedFrom = performance.now();
  await team.restart(holder(team));
  await pause(KILL_EVERY_MS);
  const drained = longestGap(state.answers, drainedFrom, performance.now());
  state.done = true;
  await Promise.all(callers);
  const most = mostAtOnce(team.journal);
  await team.close();
  return [
    row(`a server with placement "one", its holder killed ${KILLS} times: processes at once`, most, {
      limit: 1,
      digits: 0,
    }),
    row("… longest gap after a kill", killed / 1_000, { limit: KILL_GAP_MS / 1_000, unit: " s", digits: 1 }),
    row("… longest gap after a drain", drained / 1_000, {
      limit: DRAIN_GAP_MS / 1_000,
      unit: " s",
      digits: 1,
    }),
  ];
}
