// Limits over three replicas: calls and sessions arrive at all of them at once, and a replica is killed in
// between. Counts what passed beyond the limit.
import { node } from "../gateway/serve.mjs";
import { ask, openSession } from "../overhead/http/load.mjs";
import { fresh } from "../overhead/http/running.mjs";
import { BenchClient } from "./clients.mjs";
import { count } from "./count.mjs";
import { CHILD, Team } from "./team.mjs";

const RATE = 40;
const AT_ONCE = 4;
const SESSIONS = 9;
const BURST = 150;
const RUN_MS = 400;

function document(journal) {
  const endpoint = (more) => ({ namespaces: ["n"], surface: "aggregate", ...more });
  return {
    servers: { journal: { command: node, args: [CHILD, journal] } },
    namespaces: { n: { servers: { journal: {} } } },
    endpoints: {
      // An hour, so that nothing is given back during the run.
      rate: endpoint({ middleware: [{ use: "rate-limit", requests: RATE, per: "1h" }] }),
      atOnce: endpoint({ middleware: [{ use: "concurrency", max: AT_ONCE }] }),
      sessions: endpoint({ limits: { sessions: SESSIONS } }),
    },
  };
}

/** Calls of 2026-07-28 at all replicas in turn, all at once. Resolves with how many were made. */
async function burst(team, endpoint, headers, args = {}) {
  const calls = Array.from({ length: BURST }, async (_, n) => {
    const { base } = team.members[n % team.members.length];
    const options = { kind: "plain, 2026-07-28", surface: "aggregate", url: base, headers };
    const client = new BenchClient({ ...options, endpoint });
    return await (await client.connect())
      .call("write", { key: `${endpoint}-${Math.random()}`, ...args })
      .then(
        () => 1,
        () => 0,
      );
  });
  return (await Promise.all(calls)).reduce((sum, one) => sum + one, 0);
}

/** The most calls that ran at the same time. A process that ended runs none. */
function mostAtOnce(journal) {
  const running = new Map();
  let most = 0;
  for (const { pid, key, done, event } of journal) {
    if (event === "end")
      for (const at of [...running.keys()]) if (running.get(at) === pid) running.delete(at);
    if (key?.startsWith("atOnce")) running.set(key, pid);
    if (done) running.delete(done);
    most = Math.max(most, running.size);
  }
  return most;
}

async function opened(team, headers) {
  const all = Array.from({ length: 30 }, (_, n) =>
    openSession(team.members[n % team.members.length].urlOf("sessions"), headers).catch(() => undefined),
  );
  return (await Promise.all(all)).filter(Boolean);
}

/** How many of the sessions still answer, at any replica. */
async function alive(team, sessions) {
  const [first] = team.members;
  const lists = sessions.map((headers) =>
    ask(first.urlOf("sessions"), { id: 9, method: "tools/list", params: {} }, headers).then(
      ({ answer }) => (answer?.result ? 1 : 0),
      () => 0,
    ),
  );
  return (await Promise.all(lists)).reduce((sum, one) => sum + one, 0);
}

export async function measure() {
  const journal = fresh("journal");
  const team = await new Team({ flags: ["--drain", "0"], journal }).open(3, { document: document(journal) });
  const headers = await team.members[0].key();
  await team.inStep("rate", headers);
  let passed = await burst(team, "rate", headers);
  await burst(team, "atOnce", headers, { ms: RUN_MS });
  const sessions = await opened(team, headers);
  // One dies while calls run, and comes back.
  const running = burst(team, "atOnce", headers, { ms: RUN_MS });
  await team.kill("r2");
  await running;
  passed += await burst(team, "rate", headers);
  await burst(team, "atOnce", headers, { ms: RUN_MS });
  sessions.push(...(await opened(team, headers)));
  const open = await alive(team, sessions);
  const most = mostAtOnce(team.journal);
  await team.close();
  const over = (value, limit) => Math.max(0, value - limit);
  return [
    count(
      "rate limit over three replicas, one killed: calls over the limit",
      over(passed, RATE),
      `${passed} of ${RATE}`,
    ),
    count("… concurrency: calls at once over the limit", over(most, AT_ONCE), `${most} of ${AT_ONCE}`),
    count("… sessions over the limit", over(open, SESSIONS), `${open} of ${SESSIONS}`),
  ];
}
