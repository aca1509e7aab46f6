// Statements of replicas that nobody uses: of one, and of thirty on one Postgres, which are really started, at
// one moment; and how long a change needs to be served by all thirty.
import { setTimeout as pause } from "node:timers/promises";
import { row } from "../gateway/row.mjs";
import { Team } from "./team.mjs";

const MANY = 30;
const LISTENED_MS = 20_000;
/** Timers of the start have ended. */
const SETTLED_MS = 10_000;
const CHANGES = 5;
/** Asking thirty replicas more often slows down what is measured. */
const ASK_EVERY_MS = 50;

async function perSecond(team) {
  await pause(SETTLED_MS);
  const from = team.statements.length;
  await pause(LISTENED_MS);
  return (team.statements.length - from) / (LISTENED_MS / 1_000);
}

/** Until every replica serves the revision that a change made, by its metrics. */
async function served(team, n) {
  const [first, ...others] = team.members;
  const since = performance.now();
  await first.api("PATCH", "/namespaces/n", { description: `change ${n}` });
  const revision = await revisionOf(first);
  await Promise.all(
    others.map(async (member) => {
      while ((await revisionOf(member)) < revision) await pause(ASK_EVERY_MS);
    }),
  );
  return performance.now() - since;
}

async function revisionOf({ base, adminHeaders: headers }) {
  const text = await (await fetch(`${base}/metrics`, { headers })).text();
  return Number(/^metamcp_config_revision(?:\{[^}]*\})? (\d+)$/m.exec(text)?.[1]);
}

export async function measure() {
  const team = await new Team({ counted: true, flags: ["--drain", "0"] }).open(1);
  const one = await perSecond(team);
  await team.add(MANY - 1);
  const { items } = await team.members[0].api("GET", "/replicas");
  const many = await perSecond(team);
  const times = [];
  for (let n = 0; n < CHANGES; n++) times.push(await served(team, n));
  const { connections } = team;
  await team.close();
  return [
    row(`${MANY - 1} replicas started at one moment: not in the list of the first`, MANY - items.length, {
      limit: 0,
      digits: 0,
    }),
    row("store statements per second of an idle replica", one, { limit: 3, digits: 1 }),
    row(`… of ${MANY} idle ones on one Postgres`, many, {
      limit: 90,
      digits: 1,
      note: `${connections} connections`,
    }),
    row(`… a change served by all ${MANY}`, Math.max(...times), {
      limit: 1_000,
      unit: " ms",
      digits: 0,
      note: `slowest of ${CHANGES}`,
    }),
  ];
}
