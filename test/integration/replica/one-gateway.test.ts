/**
 * Three replicas look like one gateway to people: what was made at one works at the next, limits count once.
 */
import { expect, test } from "vitest";
import { apiClient, cookieIn, PASSWORD } from "../../support/people.ts";
import { onPostgres, request2026, startReplica } from "../../support/replicas.ts";
import { shared } from "../../support/shared.ts";
import { ADMIN_TOKEN } from "../../support/team-gateway.ts";
import type { TeamProcess } from "../../support/team-process.ts";
import { fixture } from "../../support/temp.ts";
import { postgresDatabase } from "../../support/test-databases.ts";
import { until } from "../../support/until.ts";

const ADMIN = { authorization: `Bearer ${ADMIN_TOKEN}` };

onPostgres("three replicas", () => {
  const three = shared(async () => {
    const database = await postgresDatabase();
    const flags = ["--replica-address", "127.0.0.1:0", "--drain", "0"];
    const all = [
      await startReplica(database, { flags }),
      await startReplica(database, { flags }),
      await startReplica(database, { flags }),
    ];
    let turn = 0;
    /** As a balancer without affinity. */
    const next = (): TeamProcess => all[turn++ % all.length] as TeamProcess;
    return { all, next, database };
  });

  test("a request may use what the request before made at another replica", async () => {
    const { next } = three();
    const statuses: number[] = [];
    const ask = async (method: string, path: string, body?: unknown): Promise<{ uuid: string }> => {
      const answer = await next().api(method, path, body);
      statuses.push(answer.status);
      return answer.body;
    };
    for (let n = 0; n < 16; n++) {
      const server = await ask("POST", "/mcp-servers", { name: `s${n}`, ...fixture() });
      await ask("GET", `/mcp-servers/${server.uuid}`);
      await ask("POST", "/namespaces", { name: `n${n}`, servers: [{ server: `s${n}` }] });
      const endpoint = await ask("POST", "/endpoints", { name: `e${n}`, namespaces: [`n${n}`] });
      await ask("PATCH", `/endpoints/${endpoint.uuid}`, { surface: "aggregate" });
    }
    expect(statuses.length).toBe(80);
    expect(statuses.filter((status) => status >= 300)).toEqual([]);
  });

  test("a list at another replica has what an answer before it was about", async () => {
    const { next } = three();
    let revision = "";
    for (let n = 0; n < 10; n++) {
      const made = await apiClient(next().url, ADMIN)("POST", "/namespaces", { name: `l${n}`, servers: [] });
      revision = made.headers.get("metamcp-revision") ?? "";
      const headers = { "metamcp-revision": revision };
      const { body } = await apiClient(next().url, ADMIN)("GET", "/namespaces?limit=500", undefined, headers);
      expect((body.items as unknown as { name: string }[]).map(({ name }) => name)).toContain(`l${n}`);
    }
    expect(revision).toMatch(/^\d+(\.\d+)+$/);
  });

  test("keys, endpoints and cookies of one work at the next at once", async () => {
    const { next } = three();
    const wrong: number[] = [];
    const { body } = await next().api("POST", "/users", { email: "ada@example.org", role: "admin" });
    const code = String(body.invitation.url).split("/").at(-1) ?? "";
    wrong.push((await apiClient(next().url)("POST", `/invitations/${code}`, { password: PASSWORD })).status);
    for (let n = 0; n < 20; n++) {
      const { url } = next();
      const login = await apiClient(url, { origin: url })("POST", "/login", {
        email: "ada@example.org",
        password: PASSWORD,
      });
      wrong.push(login.status);
      const cookie = cookieIn(login);
      for (let more = 0; more < 3; more++)
        wrong.push((await apiClient(next().url, { cookie })("GET", "/me")).status);
    }
    expect(wrong.filter((status) => status >= 300)).toEqual([]);
    for (let n = 0; n < 10; n++) {
      await next().api("POST", "/endpoints", { name: `k${n}`, namespaces: ["n0"], surface: "aggregate" });
      const key = await next().key();
      expect((await request2026(next(), `k${n}`, key, "tools/list")).status).toBe(200);
    }
  });

  test("wrong keys are looked up few times, however many strangers send", async () => {
    const { all, database } = three();
    const count = async (): Promise<number> =>
      Number(
        (await database.sql("SELECT coalesce(sum(cardinality(at)), 0) AS n FROM metamcp_tries"))[0]?.["n"],
      );
    const before = await count();
    const statuses = await Promise.all(
      Array.from({ length: 120 }, async (_, n) => {
        const { url } = all[n % 3] as TeamProcess;
        const headers = { "x-api-key": `mmcp_wrong${n}` };
        return (await fetch(`${url}/metamcp/k0/mcp`, { method: "POST", headers })).status;
      }),
    );
    expect(statuses.every((status) => status === 401 || status === 429)).toBe(true);
    expect((await count()) - before).toBeLessThanOrEqual(50);
    // From here on the network has no guess left, at any replica.
    for (const { url } of all)
      await until(async () => {
        const headers = { "x-api-key": "mmcp_one_more" };
        return (await fetch(`${url}/metamcp/k0/mcp`, { method: "POST", headers })).status === 429;
      });
  });

  test("password guesses and registrations count once over all", async () => {
    const { next } = three();
    const guesses: number[] = [];
    for (let n = 0; n < 30; n++) {
      const { url } = next();
      const body = { email: "eve@example.org", password: `wrong ${n} password` };
      guesses.push((await apiClient(url, { origin: url })("POST", "/login", body)).status);
    }
    expect(guesses.filter((status) => status === 401)).toHaveLength(10);
    expect(guesses.filter((status) => status === 429)).toHaveLength(20);
    const registered = await Promise.all(
      Array.from({ length: 60 }, async () => {
        const client = { redirect_uris: ["http://127.0.0.1/callback"], token_endpoint_auth_method: "none" };
        const answer = await fetch(`${next().url}/oauth/register`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify(client),
        });
        return answer.status;
      }),
    );
    expect(registered.filter((status) => status === 201)).toHaveLength(20);
  });
});
