/** Many calls over several children while one of them is killed repeatedly. */
import { expect, test } from "vitest";
import { gateway } from "../../support/gateway.ts";
import type { Journal } from "../../support/journal.ts";
import { alive, gone, kill } from "../../support/processes.ts";
import { fixture, temp } from "../../support/temp.ts";

const CALLS = 1_000;
const IN_FLIGHT = 50;
const NAMES = ["victim", "b", "c", "d", "e"];

test(`${CALLS} calls, ${IN_FLIGHT} in flight, get correct answers while one of five children is killed every 200 ms`, {
  timeout: 600_000,
}, async () => {
  const folder = temp();
  const journals = new Map<string, Journal>(NAMES.map((name) => [name, folder.journal(name)]));
  folder.writeConfig(
    Object.fromEntries(NAMES.map((name) => [name, fixture("--journal", folder.journal(name).file)])),
    { pool: { failureThreshold: 1_000_000 } },
  );
  const client = gateway(folder, { flags: ["--log-level", "error"] });
  await client.initialize();
  await Promise.all(NAMES.map((name) => client.mcpCall(name, "pid")));

  const victim = journals.get("victim") as Journal;
  const killer = setInterval(() => {
    const pid = victim.pids().filter(alive).at(-1);
    if (pid !== undefined) kill(pid);
  }, 200);
  const tools = ["count", "count_safe", "count_unsafe"] as const;
  const outcomes: { server: string; tool: string; key: string; result: Record<string, unknown> }[] = [];
  let next = 0;
  await Promise.all(
    Array.from({ length: IN_FLIGHT }, async () => {
      while (next < CALLS) {
        const n = next++;
        const server = NAMES[n % NAMES.length] as string;
        const tool = tools[n % tools.length] as string;
        const key = `k${n}`;
        outcomes.push({ server, tool, key, result: await client.mcpCall(server, tool, { key, ms: 60 }) });
      }
    }),
  );
  clearInterval(killer);

  expect(outcomes).toHaveLength(CALLS);
  const executed = new Map<string, number>();
  for (const journal of journals.values()) {
    for (const { key = "" } of journal.events("count")) executed.set(key, (executed.get(key) ?? 0) + 1);
  }
  for (const { server, tool, key, result } of outcomes) {
    const times = executed.get(key) ?? 0;
    if (result["isError"]) {
      expect(server).toBe("victim");
      expect(result).toMatchObject({ structuredContent: { error: { code: "server_unavailable" } } });
    } else expect(times).toBeGreaterThanOrEqual(1);
    expect(times).toBeLessThanOrEqual(tool === "count_unsafe" || server !== "victim" ? 1 : 2);
  }
  // The victim was killed many times, and the others never.
  expect(victim.pids().length).toBeGreaterThan(2);
  for (const name of NAMES.slice(1)) expect(journals.get(name)?.pids()).toHaveLength(1);

  await client.close();
  await gone([...journals.values()].flatMap((journal) => journal.pids()));
});
