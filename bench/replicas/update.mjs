// Replaces gateways of an older version one after the other by replicas of this one, on the same store and
// under load. Clients of 2026-07-28 need no replicas, so no call of theirs may fail.
import { setTimeout as pause } from "node:timers/promises";
import { count } from "./count.mjs";
import { SteadyLoad, summary } from "./load.mjs";
import { Team } from "./team.mjs";

const BETWEEN_MS = 2_000;

/** `from`: the folder `dist` of the older version. */
export async function measure({ from, sessions, rate, problems }) {
  if (from === undefined) return [];
  const team = await new Team({ flags: ["--drain", "2s"] }).open(3, { checked: true, from });
  const load = await new SteadyLoad().open(team, sessions, ({ stateless }) => stateless);
  load.begin(rate);
  for (const name of team.names) {
    await pause(BETWEEN_MS);
    await team.restart(name);
  }
  const all = await new SteadyLoad().open(team, sessions);
  all.begin(rate);
  await pause(BETWEEN_MS);
  await Promise.all([load.end(), all.end()]);
  const lost = [...(await load.lost()), ...(await all.lost())];
  await Promise.all([load.close(), all.close()]);
  await team.close();
  const failed = [load, all].flatMap(({ errors, unanswered }) => [...errors, ...unanswered]);
  problems.push(...failed, ...lost);
  const made = load.answered.size + all.answered.size + failed.length;
  return [
    count(
      "update of three gateways of an older version under load: failed calls",
      failed.length,
      `of ${made}${failed.length > 0 ? `; ${summary(failed)}` : ""}`,
    ),
    count("… sessions lost", lost.length),
  ];
}
