/** A Postgres that stops or hangs under a gateway with clients: they notice nothing, administrators are told, and nothing is lost. */
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { noOwnPostgres, type OwnPostgres, ownPostgres } from "../support/own-postgres.ts";
import { type TeamGateway, teamClient, teamGateway } from "../support/team-gateway.ts";
import { fixture, temp } from "../support/temp.ts";
import { until } from "../support/until.ts";

/** `METAMCP_AWAY=60` for the minute that the promise is about. */
const SECONDS = Number(process.env["METAMCP_AWAY"] ?? 4);
const WORKERS = 6;
const env = { METAMCP_SECRET_KEY: "a-secret-for-this-gateway-0123456789" };

describe.skipIf(noOwnPostgres)(
  `a Postgres of our own${noOwnPostgres ? ` (left out: ${noOwnPostgres})` : ""}`,
  {
    timeout: 120_000 + SECONDS * 4_000,
  },
  () => {
    async function served(postgres: OwnPostgres) {
      const gateway = await teamGateway(temp(), { flags: ["--store", postgres.url], env });
      const { api } = gateway;
      await api("POST", "/mcp-servers", { name: "fix", ...fixture() });
      await api("POST", "/namespaces", { name: "team", servers: [{ server: "fix" }] });
      await api("POST", "/endpoints", {
        name: "team",
        namespaces: ["team"],
        surface: "aggregate",
        openapi: true,
      });
      return { gateway, api, key: await gateway.key() };
    }

    /** Calls, lists, new sessions and plain HTTP, over and over; each must be answered rightly. */
    async function load(gateway: TeamGateway, key: string) {
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
        // Whoever fails says so at once.
        while: <T>(work: Promise<T>) => Promise.race([work, working.then(() => work)]),
      };
    }

    const records = async ({ api }: TeamGateway): Promise<number> => {
      let count = 0;
      for (let cursor = ""; ; ) {
        const { body } = await api("GET", `/audit?kind=call&limit=500${cursor}`);
        count += body.items.length;
        if (body.nextCursor === undefined) return count;
        cursor = `&cursor=${encodeURIComponent(body.nextCursor)}`;
      }
    };

    /** All that was called is in the log, and changes go on. */
    async function whole(gateway: TeamGateway, calls: number): Promise<void> {
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

    test(`stopped for ${SECONDS} s under load: no client sees it, writes are 503, records wait`, async () => {
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
      await clients.while(pause(SECONDS * 1_000));
      await until(() => clients.begun.calls > before + 20);
      await postgres.start();
      await whole(gateway, await clients.stop());
    });

    test("frozen under load: no client sees it, and nothing is lost", async () => {
      const postgres = await ownPostgres();
      const { gateway, api, key } = await served(postgres);
      const clients = await load(gateway, key);
      await until(() => clients.begun.calls > 20);
      postgres.freeze();
      const before = clients.begun.calls;
      const waiting = api("PATCH", "/namespaces/team", { description: "slow" });
      await clients.while(pause(SECONDS * 1_000));
      await until(() => clients.begun.calls > before + 20);
      postgres.thaw();
      // A write that only had to wait is made; one that gave up says so.
      expect([200, 503]).toContain((await waiting).status);
      await whole(gateway, await clients.stop());
    });
  },
);
