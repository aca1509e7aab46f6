/**
 * A Postgres that stops or freezes while clients use the gateway: clients notice nothing, administrators get
 * errors, and nothing is lost.
 */
import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { noOwnPostgres, type OwnPostgres, ownPostgres } from "../../support/own-postgres.ts";
import { teamClient } from "../../support/team-gateway.ts";
import { type TeamProcess, teamProcess } from "../../support/team-process.ts";
import { fixture, type Temp, temp } from "../../support/temp.ts";
import { until } from "../../support/until.ts";

/** `METAMCP_AWAY=60` for an outage of one minute. */
const OUTAGE_SECONDS = Number(process.env["METAMCP_AWAY"] ?? 4);
const WORKERS = 6;
const env = { METAMCP_SECRET_KEY: "a-secret-for-this-gateway-0123456789" };

interface Given {
  readonly folder: Temp;
  readonly options: Parameters<typeof teamProcess>[1];
  /** The journal of the server. */
  readonly journal: string;
}

describe.skipIf(noOwnPostgres)(
  `with a Postgres of our own${noOwnPostgres ? ` (left out: ${noOwnPostgres})` : ""}`,
  {
    timeout: 120_000 + OUTAGE_SECONDS * 4_000,
  },
  () => {
    async function served(postgres: OwnPostgres, given: Partial<Given> = {}) {
      const { folder = temp(), options = { flags: ["--store", postgres.url], env }, journal } = given;
      const gateway = await teamProcess(folder, options);
      const { api } = gateway;
      const server = fixture(...(journal === undefined ? [] : ["--journal", journal]));
      await api("POST", "/mcp-servers", { name: "fix", ...server });
      await api("POST", "/namespaces", { name: "team", servers: [{ server: "fix" }] });
      await api("POST", "/endpoints", {
        name: "team",
        namespaces: ["team"],
        surface: "aggregate",
        openapi: true,
      });
      return { gateway, api, key: await gateway.key() };
    }

    /** Repeats calls, lists, new sessions and HTTP API requests. Each must get the right answer. */
    async function load(gateway: TeamProcess, key: string) {
      const begun = { calls: 0, stopped: false };
      const call = async (way: "streamable" | "2026-07-28"): Promise<void> => {
        const client = await teamClient(gateway, "team", { key, way });
        for (let n = 0; n < 20 && !begun.stopped; n++) {
          begun.calls += 1;
          expect(await client.call("fix__echo", { message: `${n}` })).toBe(`${n}`);
          expect(await client.tools()).toContain("fix__echo");
        }
        await client.close();
      };
      const plain = async (): Promise<void> => {
        begun.calls += 1;
        const answer = await fetch(`${gateway.url}/metamcp/team/api/fix__add`, {
          method: "POST",
          headers: { "content-type": "application/json", "x-api-key": key },
          body: JSON.stringify({ a: 1, b: 2 }),
        });
        expect(await answer.json()).toEqual({ sum: 3 });
      };
      const working = Promise.all(
        Array.from({ length: WORKERS }, async (_, n) => {
          while (!begun.stopped)
            await (n % 3 === 0 ? plain() : call(n % 3 === 1 ? "streamable" : "2026-07-28"));
        }),
      );
      return {
        begun,
        async stop() {
          begun.stopped = true;
          await working;
          return begun.calls;
        },
        // Fails as soon as a request of the load fails.
        while: <T>(work: Promise<T>) => Promise.race([work, working.then(() => work)]),
      };
    }

    const records = async ({ api }: TeamProcess): Promise<number> => {
      let count = 0;
      for (let cursor = ""; ; ) {
        const { body } = await api("GET", `/audit?kind=call&limit=500${cursor}`);
        count += body.items.length;
        if (body.nextCursor === undefined) return count;
        cursor = `&cursor=${encodeURIComponent(body.nextCursor)}`;
      }
    };

    /** All calls are in the audit log, and changes are possible again. */
    async function expectNothingLost(gateway: TeamProcess, calls: number): Promise<void> {
      const { api } = gateway;
      await until(
        async () => (await api("PATCH", "/namespaces/team", { description: "back" })).status === 200,
      );
      await until(async () => (await records(gateway)) >= calls, { what: `${calls} records` });
      expect(await records(gateway)).toBe(calls);
      expect((await api("GET", "/audit/verify")).body).toMatchObject({ ok: true });
      expect((await api("GET", "/stats")).body.audit).toMatchObject({ lost: 0 });
      expect((await api("GET", "/namespaces/team")).body.description).toBe("back");
    }

    test(`an outage of ${OUTAGE_SECONDS} s under load is not noticed by clients, writes get 503, and records wait`, async () => {
      const postgres = await ownPostgres();
      const { gateway, api, key } = await served(postgres);
      const clients = await load(gateway, key);
      await until(() => clients.begun.calls > 20);
      await postgres.stop();
      const before = clients.begun.calls;
      const refused = await until(async () => {
        const answer = await api("PATCH", "/namespaces/team", { description: "away" });
        return answer.status === 503 && answer;
      });
      expect(refused.body).toMatchObject({
        status: 503,
        detail: expect.stringContaining("the store cannot be reached"),
      });
      const ready = await fetch(`${gateway.url}/readyz`);
      expect([ready.status, await ready.json()]).toEqual([200, { ready: true, store: "down", down: [] }]);
      expect((await api("POST", "/api-keys", { name: "no", endpoints: "all" })).status).toBe(503);
      expect((await api("GET", "/namespaces/team")).body.description).toBe("");
      await clients.while(pause(OUTAGE_SECONDS * 1_000));
      await until(() => clients.begun.calls > before + 20);
      await postgres.start();
      await expectNothingLost(gateway, await clients.stop());
    });

    test("a frozen Postgres under load is not noticed by clients, and nothing is lost", async () => {
      const postgres = await ownPostgres();
      const { gateway, api, key } = await served(postgres);
      const clients = await load(gateway, key);
      await until(() => clients.begun.calls > 20);
      postgres.freeze();
      const before = clients.begun.calls;
      const waiting = api("PATCH", "/namespaces/team", { description: "slow" });
      await clients.while(pause(OUTAGE_SECONDS * 1_000));
      await until(() => clients.begun.calls > before + 20);
      postgres.thaw();
      // A write that only had to wait is made, and one that gave up reports it.
      expect([200, 503]).toContain((await waiting).status);
      await expectNothingLost(gateway, await clients.stop());
    });

    test("a gateway that stops while Postgres is frozen ends soon, and its next start writes what it could not", async () => {
      const postgres = await ownPostgres();
      const folder = temp();
      const journal = folder.journal();
      const options = { flags: ["--store", postgres.url, "--audit-file", "audit.jsonl"], env };
      const { gateway, api, key } = await served(postgres, { folder, options, journal: journal.file });
      await api("POST", "/endpoints", {
        name: "strict",
        namespaces: ["team"],
        surface: "aggregate",
        middleware: [{ use: "audit", required: true }],
      });
      const client = await teamClient(gateway, "team", { key });
      const strict = await teamClient(gateway, "strict", { key });
      await client.call("fix__echo", { message: "before" });
      expect(await strict.call("fix__echo", { message: "strict" })).toBe("strict");
      postgres.freeze();
      for (let n = 0; n < 30; n++) await client.call("fix__echo", { message: `${n}` });
      const reached = (): number => journal.events("message").filter(({ tool }) => tool === "echo").length;
      expect(reached()).toBe(32);
      const refused = await strict.call("fix__echo", { message: "never" });
      expect(refused).toContain("The audit log cannot be written");
      expect(reached(), "no call is made without a record").toBe(32);
      // Half of the time after which a query counts as failed.
      const late = pause(15_000).then(() => "late");
      expect(await Promise.race([gateway.kill("SIGTERM"), late])).toBe(0);
      postgres.thaw();

      const next = await teamProcess(folder, options);
      await until(async () => (await records(next)) >= 33, { what: "33 records" });
      expect(await records(next)).toBe(33);
      expect((await next.api("GET", "/audit/verify")).body).toMatchObject({ ok: true });
      await next.kill("SIGTERM");
      const inFile = readFileSync(folder.path("audit.jsonl"), "utf8").trim().split("\n");
      const numbers = inFile.map((line) => (JSON.parse(line) as { seq: number }).seq);
      expect(numbers).toEqual(Array.from(numbers, (_, at) => at + 1));
    });
  },
);
