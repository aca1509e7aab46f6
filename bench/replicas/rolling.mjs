// Restarts all replicas one after the other under load, as an update does. Every failed call counts.
import { setTimeout as pause } from "node:timers/promises";
import { count } from "./count.mjs";
import { SteadyLoad, summary } from "./load.mjs";
import { REQUIRED, Team } from "./team.mjs";

/** Longer than the balancer needs to see that a replica is not ready. */
const DRAIN = "2s";
const BETWEEN_MS = 2_000;

export async function measure({ sessions, rate, problems }) {
  const team = await new Team({ flags: ["--drain", DRAIN] }).open(3, {
    checked: true,
    middleware: [REQUIRED],
  });
  const load = await new SteadyLoad().open(team, sessions);
  load.begin(rate);
  for (const name of team.names) {
    await pause(BETWEEN_MS);
    await team.restart(name);
  }
  await pause(BETWEEN_MS);
  await load.end();
  const lost = await load.lost();
  await load.close();
  await team.close();
  const failed = [...load.errors, ...load.unanswered];
  problems.push(...failed, ...lost);
  return [
    count(
      `rolling restart of all under load, ${sessions} sessions: failed calls`,
      failed.length,
      `of ${load.answered.size + failed.length}; slowest ${(load.slowestMs / 1_000).toFixed(1)} s${failed.length > 0 ? `; ${summary(failed)}` : ""}`,
    ),
    count("… sessions lost", lost.length),
  ];
}
