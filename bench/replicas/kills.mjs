// Kills a replica every 20 s under load, and counts what the clients, the server and the audit log say.
import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { count } from "./count.mjs";
import { SteadyLoad, summary } from "./load.mjs";
import { CHILD, REQUIRED, Team } from "./team.mjs";

const KILL_EVERY_MS = 20_000;

/** The keys that the server ran more than once. */
function doubled(journal) {
  const counts = new Map();
  for (const { key } of journal) if (key?.startsWith("call-")) counts.set(key, (counts.get(key) ?? 0) + 1);
  return [...counts].filter(([, count]) => count > 1).map(([key]) => key);
}

/** Whether it runs and is one of ours: the system gives numbers of processes that ended to others. */
function isOurs(pid) {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "latin1").includes(CHILD);
  } catch {
    return false;
  }
}

/** Processes of the server that still run, though all replicas have ended. */
async function left(journal) {
  const pids = journal.filter(({ event }) => event === "start").map(({ pid }) => pid);
  await pause(1_000);
  return pids.filter(isOurs);
}

/** The keys of the calls that the audit log has with their outcome. */
async function recorded(gateway) {
  const keys = new Set();
  let cursor;
  do {
    const query = `limit=500&kind=call&outcome=ok${cursor === undefined ? "" : `&cursor=${encodeURIComponent(cursor)}`}`;
    const page = await gateway.api("GET", `/audit?${query}`);
    for (const item of page.items) {
      const [key] = /call-\d+/.exec(JSON.stringify(item)) ?? [];
      if (key) keys.add(key);
    }
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return keys;
}

async function kill(team, endAt, every) {
  let kills = 0;
  await pause(every / 2);
  for (; Date.now() < endAt; kills++) {
    const due = Date.now() + every;
    await team.kill(team.names[kills % team.names.length]);
    await pause(Math.max(0, due - Date.now()));
  }
  return kills;
}

export async function measure({ sessions, rate, minutes, problems }) {
  const team = await new Team({ flags: ["--drain", "0"] }).open(3, { middleware: [REQUIRED] });
  const load = await new SteadyLoad().open(team, sessions);
  load.begin(rate);
  const kills = await kill(team, Date.now() + minutes * 60_000, KILL_EVERY_MS);
  await load.end();
  const lost = await load.lost();
  const [first] = team.members;
  const records = await recorded(first);
  const missing = [...load.answered].filter((key) => !records.has(key));
  const { ok } = await first.api("GET", "/audit/verify");
  await load.close();
  const { journal, balancer } = team;
  await team.close();
  const remaining = await left(journal);
  const twice = doubled(journal);
  problems.push(...lost, ...load.unanswered, ...twice.map((key) => `${key} ran twice`));
  problems.push(...missing.slice(0, 5).map((key) => `${key} is not in the audit log`));
  const answered = load.answered.size.toLocaleString("en");
  const errors = summary(load.errors);
  return [
    count(
      `${sessions} sessions, ${kills} kills in ${minutes} min: sessions lost`,
      lost.length,
      `${answered} calls answered, ${load.errors.length} with an error${errors && `: ${errors}`}; slowest ${(load.slowestMs / 1_000).toFixed(1)} s`,
    ),
    count(
      "… calls run twice",
      twice.length,
      `of ${journal.filter(({ key }) => key).length.toLocaleString("en")} run`,
    ),
    count("… calls without an answer", load.unanswered.length, `${balancer.broken} got 502 of the balancer`),
    count("… processes left", remaining.length),
    count("… audit records missing of answered calls", missing.length),
    count("… faults in the chain of the audit log", ok ? 0 : 1),
  ];
}
