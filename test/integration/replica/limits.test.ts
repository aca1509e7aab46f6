/** Limits hold over three replicas: never more passes than configured, whichever replica a call reaches. */
import { expect, test } from "vitest";
import { RawSession, replicas } from "../../support/replica-team.ts";
import { inStep, onPostgres, request2026 } from "../../support/replicas.ts";
import { shared } from "../../support/shared.ts";
import type { TeamProcess } from "../../support/team-process.ts";
import { until } from "../../support/until.ts";

const isRefused = (answer: object): boolean => JSON.stringify(answer).includes("Too many");

onPostgres("limits of replicas", () => {
  const team = shared(() => replicas(3));

  /** Sets these fields of the endpoint, and waits until all replicas serve it. */
  async function endpoint(fields: object): Promise<void> {
    const { replicas: all, key } = team();
    await (all[0] as TeamProcess).api("PATCH", "/endpoints/team", { middleware: [], limits: {}, ...fields });
    await inStep(all, key, "team");
  }

  /** Calls the tool at the replicas in turn, all at once. Returns how many calls passed. */
  async function passed(calls: number, key = team().key, tool = "fix__echo"): Promise<number> {
    const { replicas: all } = team();
    const answers = Array.from({ length: calls }, (_, n) =>
      request2026(all[n % all.length] as TeamProcess, "team", key, "tools/call", {
        name: tool,
        arguments: { message: "x" },
      }),
    );
    return (await Promise.all(answers)).filter((answer) => !isRefused(answer)).length;
  }

  test("a rate limit of 10 a minute: exactly 10 of 60 calls in parallel pass, and none later", async () => {
    await endpoint({ middleware: [{ use: "rate-limit", requests: 10, per: "60s" }] });
    const { journal } = team();
    const before = journal.events("message").filter(({ tool }) => tool === "echo").length;
    expect(await passed(60)).toBe(10);
    expect(await passed(9)).toBe(0);
    const made = journal.events("message").filter(({ tool }) => tool === "echo").length - before;
    expect(made).toBe(10);
    // Another caller has a count of its own.
    const other = await (team().replicas[0] as TeamProcess).key();
    await inStep(team().replicas, other, "team");
    expect(await passed(30, other)).toBe(10);
  });

  test("a call that one of two limits refuses is counted by none", async () => {
    await endpoint({
      middleware: [
        { use: "rate-limit", requests: 4, per: "60s" },
        { use: "rate-limit", requests: 1, per: "60s", by: "tool" },
      ],
    });
    const tools = ["fix__echo", "fix__pid", "fix__args", "fix__env"];
    for (const tool of tools) {
      // A token that a refused call had asked for comes back a moment later.
      await until(async () => (await passed(3, undefined, tool)) === 1);
      expect(await passed(3, undefined, tool)).toBe(0);
    }
    expect(await passed(6, undefined, "fix__roots")).toBe(0);
  });

  test("concurrency 2: of calls in parallel at three replicas two run", async () => {
    await endpoint({ middleware: [{ use: "concurrency", max: 2 }] });
    // Longer than any call waits for a place, so that no place is used twice.
    const { replicas: all, key } = team();
    const hang = { name: "fix__sleep", arguments: { ms: 3_000 } };
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, n) =>
        request2026(all[n % 3] as TeamProcess, "team", key, "tools/call", hang),
      ),
    );
    expect(answers.filter((answer) => !isRefused(answer))).toHaveLength(2);
    // One after the other at different replicas: never refused.
    for (let n = 0; n < 12; n += 1) expect(await passed(1)).toBe(1);
  });

  test("calls that wait in queues of all replicas have their turn, two at a time", async () => {
    await endpoint({ middleware: [{ use: "concurrency", max: 2, queue: 20 }] });
    const { replicas: all, key } = team();
    const began = performance.now();
    const call = { name: "fix__sleep", arguments: { ms: 200 } };
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        request2026(all[n % 3] as TeamProcess, "team", key, "tools/call", call),
      ),
    );
    expect(answers.filter((answer) => !isRefused(answer))).toHaveLength(12);
    expect(performance.now() - began).toBeGreaterThan((12 / 2) * 200 - 50);
  });

  test("limits.inFlight and limits.sessions hold over all, and sessions of a dead replica make room", async () => {
    const { replicas: all, key } = team();
    await endpoint({ limits: { inFlight: 2 } });
    const call = { name: "fix__sleep", arguments: { ms: 3_000 } };
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        request2026(all[n % 3] as TeamProcess, "team", key, "tools/call", call),
      ),
    );
    expect(answers.filter(({ status, result }) => status === 200 && !result?.isError)).toHaveLength(2);
    await endpoint({ limits: { sessions: 3 } });
    const open = async (at: TeamProcess): Promise<number> => {
      const params = {
        protocolVersion: "2025-11-25",
        capabilities: {},
        clientInfo: { name: "raw", version: "1" },
      };
      const response = await new RawSession(key).request(at, "initialize", params);
      await response.text();
      return response.status;
    };
    const opened = await Promise.all(Array.from({ length: 12 }, (_, n) => open(all[n % 3] as TeamProcess)));
    expect(opened.filter((status) => status === 200)).toHaveLength(3);
    expect(opened.filter((status) => status === 429)).toHaveLength(9);
    const one = await team().start();
    await inStep([one], key, "team");
    expect(await open(one)).toBe(429);
    for (const at of all) await at.kill("SIGKILL");
    await until(async () => (await open(one)) === 200);
    expect([await open(one), await open(one), await open(one)]).toEqual([200, 200, 429]);
  });
});
