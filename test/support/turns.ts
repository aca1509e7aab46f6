/** A gateway that says how long it computes without serving anybody else. */
import { readFileSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type TeamProcess, teamProcess } from "./team-process.ts";
import { type Temp, temp } from "./temp.ts";
import { until } from "./until.ts";

const PROBE = fileURLToPath(new URL("./turn-probe.mjs", import.meta.url));

/** Shorter turns are not compared with a piece of work. */
export const LONG_MS = 25;

export interface Turn {
  /** Milliseconds that the longest turn of the event loop since the last call computed. */
  readonly longest: number;
  /** Milliseconds that a fixed piece of work computes in the same process now; 0 if the turn was not long. */
  readonly unit: number;
}

export async function measuredTeam(
  folder: Temp = temp(),
  flags: readonly string[] = [],
): Promise<{ readonly team: TeamProcess; longestTurn(): Promise<Turn> }> {
  const file = folder.path("probe");
  const team = await teamProcess(folder, {
    flags,
    env: { NODE_OPTIONS: `--import ${PROBE}`, PROBE_FILE: file, PROBE_LONG: String(LONG_MS) },
  });
  return {
    team,
    async longestTurn() {
      rmSync(file, { force: true });
      process.kill(team.pid, "SIGUSR2");
      return await until(() => {
        try {
          return JSON.parse(readFileSync(file, "utf8")) as Turn;
        } catch {
          return undefined;
        }
      });
    },
  };
}
