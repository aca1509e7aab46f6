/** Replicas with a server that may run only once in all of them, and its journal. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { startReplica } from "./replicas.ts";
import type { TeamProcess } from "./team-process.ts";
import { ROOT, temp } from "./temp.ts";
import { postgresDatabase, type TestDatabase } from "./test-databases.ts";

const FLAGS = ["--replica-address", "127.0.0.1:0", "--drain", "0"];

export interface OnceEvent {
  readonly event: "start" | "call" | "cancelled";
  readonly pid: number;
  readonly at: number;
  /** Processes of the server that ran when this one started. */
  readonly others?: readonly number[];
  readonly tool?: string;
  readonly key?: string;
}

export interface PlacedTeam {
  readonly database: TestDatabase;
  readonly replicas: TeamProcess[];
  readonly key: string;
  readonly server: string;
  start(flags?: readonly string[]): Promise<TeamProcess>;
  /** What the server noted. */
  journal(event?: OnceEvent["event"]): OnceEvent[];
}

/** The endpoint `team` with the server `once` on the surface with its own tools. */
export async function placedTeam(
  count: number,
  { args = [], entry = {} }: { readonly args?: readonly string[]; readonly entry?: object } = {},
): Promise<PlacedTeam> {
  const database = await postgresDatabase();
  const file = temp().path("journal.jsonl");
  const start = (flags = FLAGS): Promise<TeamProcess> => startReplica(database, { flags });
  const replicas = [await start()];
  const [first] = replicas as [TeamProcess];
  const { body } = await first.api("POST", "/mcp-servers", {
    name: "once",
    command: process.execPath,
    args: [join(ROOT, "test/fixture/only-once.mjs"), "--journal", file, ...args],
    placement: "one",
    ...entry,
  });
  await first.api("POST", "/namespaces", { name: "team", servers: [{ server: "once" }] });
  await first.api("POST", "/endpoints", { name: "team", namespaces: ["team"], surface: "aggregate" });
  const key = await first.key();
  while (replicas.length < count) replicas.push(await start());
  const journal = (event?: OnceEvent["event"]): OnceEvent[] => {
    const events = read(file);
    return event === undefined ? events : events.filter((one) => one.event === event);
  };
  return { database, replicas, key, server: body.uuid, start, journal };
}

function read(file: string): OnceEvent[] {
  try {
    return readFileSync(file, "utf8")
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line) as OnceEvent);
  } catch {
    return [];
  }
}
