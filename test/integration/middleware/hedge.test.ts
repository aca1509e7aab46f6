/**
 * The hedge layer: second attempts beside slow calls, counted at the server. Only read-only tools get one,
 * and limits and records count the call once.
 */
import { expect, test } from "vitest";
import { type LayeredTeam, layeredTeam } from "../../support/layered-team.ts";
import { alive, kill } from "../../support/processes.ts";
import { type TeamClient, teamClient } from "../../support/team-gateway.ts";

const READS = { readOnlyHint: true, idempotentHint: true };
/** `count` has no annotations, so the namespace declares it read-only. */
const namespace = { tools: [{ server: "fix", tool: "count", annotations: READS }] };
const hedge = { use: "hedge", afterMs: 50, most: 1 };

const clientOf = ({ gateway, key }: LayeredTeam, way: "streamable" | "2026-07-28" = "streamable") =>
  teamClient(gateway, "aggregate", { key, way });
const cancelled = ({ journal }: LayeredTeam): number => journal.events("cancelled").length;

test("a slow read-only call is sent to a second process, the first answer counts, and the other attempt is cancelled", async () => {
  const limit = { use: "rate-limit", requests: 2, per: "1h" };
  const team = await layeredTeam({
    namespace,
    server: { instances: 2 },
    endpoint: { middleware: [limit, hedge] },
  });
  const client = await clientOf(team);
  expect(await client.call("fix__count", { key: "slow", hangs: 1 })).toBe("slow 2");
  const at = team.journal.events("count").map(({ pid }) => pid);
  expect(new Set(at).size).toBe(2);
  await team.journal.until(() => cancelled(team) === 1);
  // The rate limit counts the call once.
  expect(await client.call("fix__count", { key: "next" })).toBe("next 1");
  expect(await client.call("fix__count", { key: "over" })).toMatch(/rate_limited/);
  const { body } = await team.api("GET", "/calls");
  expect(body.items.map(({ attempts }: { attempts?: number }) => attempts)).toContain(2);
});

test("tools that are not read-only, and servers with one process, get no second attempt", async () => {
  const team = await layeredTeam({
    namespace,
    server: { instances: 2, timeoutMs: 400 },
    endpoint: { middleware: [hedge] },
  });
  const client = await clientOf(team);
  for (const tool of ["count_unsafe", "count_safe"]) {
    expect(await client.call(`fix__${tool}`, { key: tool, hangs: 1 })).toMatch(/timeout/);
    expect(team.journal.executions(tool)).toBe(1);
  }
  const { body } = await team.api("GET", "/mcp-servers");
  await team.api("PATCH", `/mcp-servers/${body.items[0].uuid}`, { instances: 1 });
  expect(await client.call("fix__count", { key: "alone", hangs: 1 })).toMatch(/timeout/);
  expect(team.journal.executions("alone")).toBe(1);
});

test("while processes are killed an unsafe tool runs at most once per call, and read-only calls are repeated", async () => {
  const team = await layeredTeam({
    namespace,
    server: { instances: 4, criticality: "vital" },
    endpoint: { middleware: [{ ...hedge, afterMs: 5 }], stateless: true },
    flags: ["--failure-threshold", "1000"],
  });
  const clients = await Promise.all(Array.from({ length: 4 }, () => clientOf(team)));
  const keys: string[] = [];
  const tools = ["count", "count_unsafe"] as const;
  let running = true;
  const killing = (async () => {
    while (running) {
      const before = team.journal.events("count").length;
      await team.journal.until((journal) => !running || journal.events("count").length > before + 10);
      const [victim] = team.journal.pids().filter(alive).toReversed();
      if (victim !== undefined && running) kill(victim);
    }
  })();
  const run = async (client: TeamClient, who: number) => {
    for (let n = 0; n < 40; n++) {
      const tool = tools[n % tools.length] as string;
      const key = `${tool} ${who} ${n}`;
      keys.push(key);
      await client.call(`fix__${tool}`, { key, ms: 20 }).catch(() => {});
    }
  };
  await Promise.all(clients.map(run));
  running = false;
  await killing;
  expect(team.journal.pids().length, "some were killed").toBeGreaterThan(4);
  const counted = new Map<string, number>();
  for (const { key = "" } of team.journal.events("count")) counted.set(key, (counted.get(key) ?? 0) + 1);
  const twice = keys.filter((key) => key.startsWith("count_unsafe") && (counted.get(key) ?? 0) > 1);
  expect(twice).toEqual([]);
  expect(
    keys.some((key) => key.startsWith("count ") && (counted.get(key) ?? 0) > 1),
    "reads were hedged",
  ).toBe(true);
});
