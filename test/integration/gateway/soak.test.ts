/**
 * Kills, hangs, large results and cancellations at the same time: each call gets one answer, and memory and
 * files do not grow.
 */
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { FULL } from "../../support/full.ts";
import { gateway } from "../../support/gateway.ts";
import type { Journal } from "../../support/journal.ts";
import { discover, failureOf, startedBy, textOf } from "../../support/meta.ts";
import { alive, gone, kill } from "../../support/processes.ts";
import type { RawClient } from "../../support/raw-client.ts";
import { fixture, type Temp, temp } from "../../support/temp.ts";

/** `METAMCP_SOAK=seconds` for a longer run. */
const SECONDS = Number(process.env["METAMCP_SOAK"] ?? (FULL ? 15 : 6));
const WORKERS = 24;
const BIG = 1_000_000;

const SERVERS: Record<string, { flags?: string[]; more?: object }> = {
  steady: {},
  other: { flags: ["--garbage"] },
  victim: { more: { criticality: "vital" } },
  slow: { more: { timeoutMs: 300 } },
  stuck: { flags: ["--no-ping"], more: { timeoutMs: 300 } },
  brief: { more: { lifecycle: "ephemeral" } },
};

interface Counted {
  readonly tool: string;
  readonly key: string;
  readonly answered: boolean;
}

class Soak {
  readonly counted: Counted[] = [];
  /** How often each behaviour was completed. */
  readonly seen = new Map<string, number>();
  /** Answers to cancelled calls. */
  unexpectedAnswers = 0;
  readonly #client: RawClient;
  readonly #journals: ReadonlyMap<string, Journal>;
  #next = 0;

  constructor(client: RawClient, journals: ReadonlyMap<string, Journal>) {
    this.#client = client;
    this.#journals = journals;
  }

  readonly #acts: Record<string, () => Promise<void>> = {
    echo: async () => {
      const message = `m${this.#next}`;
      const server = this.#next % 2 === 0 ? "steady" : "other";
      expect(textOf(await this.#client.mcpCall(server, "echo", { message }))).toBe(message);
    },
    big: async () => {
      const result = await this.#client.mcpCall("steady", "big", { bytes: BIG });
      expect(JSON.stringify(result)).toHaveLength(BIG);
    },
    count: () => this.#count("count"),
    countUnsafe: () => this.#count("count_unsafe"),
    timeout: async () => {
      expect(failureOf(await this.#client.mcpCall("slow", "hang")).code).toBe("timeout");
    },
    // Calls on the same connection may be lost when it is closed.
    stuck: async () => {
      expect(failureOf(await this.#client.mcpCall("stuck", "hang")).code).toMatch(
        /^(timeout|server_unavailable)$/,
      );
    },
    brief: async () => {
      expect(textOf(await this.#client.mcpCall("brief", "echo", { message: "b" }))).toBe("b");
    },
    cancel: async () => {
      this.#client.mcpCall("other", "sleep", { ms: 600_000 }).then(
        () => this.unexpectedAnswers++,
        () => {},
      );
      const requestId = this.#client.lastId;
      if (this.#next % 2 === 0) await this.#client.request("ping");
      this.#client.notify("notifications/cancelled", { requestId });
    },
    error: async () => {
      expect(failureOf(await this.#client.mcpCall("other", "fail")).code).toBe("execution_failed");
    },
    search: async () => {
      const { tools } = await discover(this.#client, { query: "say something back", server: "steady" });
      expect(tools?.length).toBeGreaterThan(0);
    },
  };

  async #count(tool: string): Promise<void> {
    const key = `k${this.#next}`;
    const result = await this.#client.mcpCall("victim", tool, { key, ms: this.#next % 20 });
    if (result["isError"]) expect(failureOf(result).code).toBe("server_unavailable");
    this.counted.push({ tool, key, answered: !result["isError"] });
  }

  async work(until: number): Promise<void> {
    const names = Object.keys(this.#acts);
    while (Date.now() < until) {
      const name = names[this.#next++ % names.length] as string;
      await this.#acts[name]?.();
      this.seen.set(name, (this.seen.get(name) ?? 0) + 1);
    }
  }

  killOne(): void {
    const pid = this.#journals.get("victim")?.pids().filter(alive).at(-1);
    if (pid !== undefined) kill(pid);
  }

  /** Unsafe calls ran at most once, and answered calls did run. */
  verify(): void {
    const executed = new Map<string, number>();
    for (const { key = "" } of this.#journals.get("victim")?.events("count") ?? [])
      executed.set(key, (executed.get(key) ?? 0) + 1);
    for (const { tool, key, answered } of this.counted) {
      const times = executed.get(key) ?? 0;
      expect(times, key).toBeLessThanOrEqual(tool === "count_unsafe" ? 1 : 2);
      if (answered) expect(times, key).toBeGreaterThan(0);
    }
  }
}

/** Memory in bytes and open files; undefined if the system does not report them. */
function sizeOf(pid: number): { memory: number; files: number } | undefined {
  try {
    const resident = Number(readFileSync(`/proc/${pid}/statm`, "utf8").split(" ")[1]);
    return { memory: resident * 4096, files: readdirSync(`/proc/${pid}/fd`).length };
  } catch {
    return undefined;
  }
}

async function setUp(folder: Temp): Promise<[RawClient, Map<string, Journal>]> {
  const names = Object.keys(SERVERS);
  const journals = new Map(names.map((name) => [name, folder.journal(name)]));
  const entries = Object.entries(SERVERS).map(([name, { flags = [], more }]) => [
    name,
    { ...fixture("--journal", folder.journal(name).file, ...flags), ...more },
  ]);
  const pool = { failureThreshold: 1_000_000_000 };
  folder.writeConfig(Object.fromEntries(entries), { pool, maxResultBytes: 100 * BIG });
  const client = gateway(folder, { flags: ["--log-level", "error"] });
  await client.initialize();
  await Promise.all(names.map((name) => client.mcpCall(name, "pid")));
  return [client, journals];
}

test(`calls get correct answers and nothing grows during ${SECONDS} s of kills, hangs, large results and cancellations`, {
  timeout: (SECONDS + 60) * 1_000,
}, async () => {
  const [client, journals] = await setUp(temp());
  const soak = new Soak(client, journals);
  const sizes: { memory: number; files: number }[] = [];
  const killer = setInterval(() => soak.killOne(), 350);
  const watch = setInterval(() => sizes.push(...[sizeOf(client.pid) ?? []].flat()), 100);
  const end = Date.now() + SECONDS * 1_000;
  try {
    await Promise.all(Array.from({ length: WORKERS }, () => soak.work(end)));
  } finally {
    clearInterval(killer);
    clearInterval(watch);
  }

  expect(soak.unexpectedAnswers).toBe(0);
  expect(soak.seen.size).toBe(10);
  soak.verify();
  expect(journals.get("victim")?.pids().length).toBeGreaterThan(3);
  for (const name of ["steady", "other", "slow"]) expect(journals.get(name)?.pids(), name).toHaveLength(1);

  // The minimum of the last quarter must not be far above the minimum of the second quarter.
  const quarter = Math.floor(sizes.length / 4);
  const minimum = (from: number, of: "memory" | "files"): number =>
    Math.min(...sizes.slice(from, from + quarter).map((size) => size[of]));
  if (quarter > 0) {
    expect(minimum(3 * quarter, "memory")).toBeLessThan(1.2 * minimum(quarter, "memory") + 25_000_000);
    expect(minimum(3 * quarter, "files")).toBeLessThan(minimum(quarter, "files") + 15);
  }
  const living = startedBy(client);
  expect((await client.close()).code).toBe(0);
  await gone(living);
  expect(startedBy(client)).toEqual([]);
});
