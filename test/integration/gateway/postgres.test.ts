/** Two gateways on one Postgres: a change at one takes effect at the other. */

import { describe, expect, test } from "vitest";
import { adminFetch } from "../../support/admin-answers.ts";
import { type CutProxy, cutProxy } from "../../support/cut-proxy.ts";
import { mcp } from "../../support/mcp-request.ts";
import { ADMIN_TOKEN, type TeamGateway, teamClient, teamGateway } from "../../support/team-gateway.ts";
import { teamPerson } from "../../support/team-person.ts";
import { fixture, temp } from "../../support/temp.ts";
import { noPostgres, postgresAddress, postgresDatabase } from "../../support/test-databases.ts";
import { until } from "../../support/until.ts";

const env = { METAMCP_SECRET_KEY: "a-secret-for-both-gateways-0123456789" };

describe.skipIf(noPostgres)(`on Postgres${noPostgres ? ` (left out: ${noPostgres})` : ""}`, () => {
  const LISTENING = `pg_stat_activity WHERE application_name = current_schema() AND query = 'LISTEN metamcp'`;

  /** Ways to lose notifications. Polling must find the changes then. */
  const LOSSES: readonly (readonly [string, string, string])[] = [
    [
      "are dropped",
      "CREATE FUNCTION pg_notify(text, text) RETURNS text LANGUAGE sql AS $$ SELECT '' $$",
      "SELECT 1",
    ],
    ["go to a closed connection", "SELECT 1", `SELECT pg_terminate_backend(pid) FROM ${LISTENING}`],
  ];

  test.each(LOSSES)("a change reaches the other gateway although notifications %s", async (_, once, each) => {
    const database = await postgresDatabase();
    const start = () => teamGateway(temp(), { flags: ["--store", database.url], env });
    const [one, two] = [await start(), await start()];
    await database.sql(once);
    await one.api("POST", "/mcp-servers", { name: "fix", ...fixture() });
    await one.api("POST", "/namespaces", { name: "team", servers: [{ server: "fix" }] });
    await one.api("POST", "/endpoints", { name: "team", namespaces: ["team"], surface: "aggregate" });
    const key = await one.key();
    const client = await until(() => teamClient(two, "team", { key }).catch(() => undefined));
    for (let n = 0; n < 5; n++) {
      await database.sql(each);
      const tools = [{ server: "fix", tool: "echo", name: `say_${n}` }];
      expect((await one.api("PATCH", "/namespaces/team", { tools })).status).toBe(200);
      await until(async () => (await client.tools()).includes(`fix__say_${n}`));
    }
  });

  test("a gateway with the old secret key continues with its config and rejects changes", async () => {
    const { url } = await postgresDatabase();
    const start = (keys: Readonly<Record<string, string>>) =>
      teamGateway(temp(), { flags: ["--store", url], env: keys });
    const old = await start(env);
    const server = { name: "fix", ...fixture(), env: { TOKEN: "one" } };
    expect((await old.api("POST", "/mcp-servers", server)).status).toBe(201);
    const METAMCP_SECRET_KEY = "a-new-secret-for-both-gateways-9876543210";
    const renewed = await start({ METAMCP_SECRET_KEY, METAMCP_SECRET_KEY_OLD: env.METAMCP_SECRET_KEY });
    const change = (gateway: TeamGateway, value: string) =>
      gateway.api("PATCH", "/mcp-servers/fix", { env: { TOKEN: value } });
    expect((await change(renewed, "two")).status).toBe(200);
    await until(() => old.stderr.includes("could not be read"));
    const served = await (await fetch(`${old.url}/metrics`)).text();
    expect(served).toMatch(/^metamcp_config_revision 1$/m);
    const refused = await change(old, "three");
    expect([refused.status, refused.body.detail]).toEqual([
      503,
      expect.stringContaining("METAMCP_SECRET_KEY"),
    ]);
    expect((await renewed.api("GET", "/revisions")).body.items).toHaveLength(2);
    expect((await change(renewed, "four")).status).toBe(200);
  });

  test("of concurrent changes to one version of an object one succeeds, at either gateway", async () => {
    const { url } = await postgresDatabase();
    const start = () => teamGateway(temp(), { flags: ["--store", url], env });
    const gateways = [await start(), await start()];
    const [one] = gateways as [TeamGateway, TeamGateway];
    await one.api("POST", "/namespaces", { name: "team" });
    for (let round = 0; round < 5; round++) {
      const { revision } = (await one.api("GET", "/namespaces/team")).body;
      const statuses = await Promise.all(
        [0, 1, 2, 3].map(async (n) => {
          const at = gateways[n % 2] as TeamGateway;
          // A gateway must know the object and its last version before it can change it.
          // Another of the four may have changed it already.
          await until(async () => (await at.api("GET", "/namespaces/team")).body.revision >= revision);
          const answer = await adminFetch(`${at.url}/api/v1/namespaces/team`, {
            method: "PATCH",
            headers: {
              authorization: `Bearer ${ADMIN_TOKEN}`,
              "content-type": "application/json",
              "if-match": `"${revision}"`,
            },
            body: JSON.stringify({ description: `${round} ${n}` }),
          });
          return answer.status;
        }),
      );
      expect(statuses.toSorted()).toEqual([200, 412, 412, 412]);
    }
    expect((await one.api("GET", "/revisions?limit=50")).body.items).toHaveLength(6);
  });

  test("changes made while a gateway could not reach the store take effect when it can again", async () => {
    const { host, port } = postgresAddress();
    const proxy = await cutProxy({ host, port });
    const direct = await postgresDatabase();
    const through = new URL(direct.url);
    through.host = `127.0.0.1:${proxy.port}`;
    const one = await teamGateway(temp(), { flags: ["--store", direct.url], env });
    const two = await teamGateway(temp(), { flags: ["--store", through.href], env });
    await one.api("POST", "/namespaces", { name: "team" });
    await one.api("POST", "/endpoints", { name: "team", namespaces: ["team"] });
    const made = (await one.api("POST", "/api-keys", { name: "both", endpoints: "all" })).body;
    await until(() => teamClient(two, "team", { key: made.key }).catch(() => undefined));
    await proxy.cut();
    await until(async () => (await two.api("POST", "/namespaces", { name: "no" })).status === 503);
    await one.api("PATCH", "/namespaces/team", { description: "meanwhile" });
    await one.api("DELETE", `/api-keys/${made.uuid}`);
    await proxy.mend();
    await until(async () => (await two.api("GET", "/namespaces/team")).body.description === "meanwhile");
    const status = async () => (await mcp(two, "team", { token: made.key })).status;
    await until(async () => (await status()) === 401);
  });

  test("a change whose confirmation was lost is reported as uncertain", async () => {
    const { host, port, url } = postgresAddress();
    let losing = false;
    const proxy: CutProxy = await cutProxy({ host, port }, () => (bytes) => {
      if (losing && bytes.includes("COMMIT")) proxy.loseAnswers();
    });
    const through = new URL(url);
    through.host = `127.0.0.1:${proxy.port}`;
    const database = await postgresDatabase(through.href);
    const { api } = await teamGateway(temp(), { flags: ["--store", database.url], env });
    await api("POST", "/namespaces", { name: "team" });
    losing = true;
    const lost = await api("PATCH", "/namespaces/team", { description: "made" });
    losing = false;
    expect(lost).toMatchObject({
      status: 503,
      body: { detail: expect.stringContaining("before you repeat it") },
    });
    await proxy.cut();
    await proxy.mend();
    // The change was made, and takes effect as soon as the store is back.
    await until(async () => (await api("GET", "/namespaces/team")).body.description === "made");
    expect((await api("PATCH", "/namespaces/team", { description: "next" })).status).toBe(200);
  });

  test("objects, keys and revocations reach the other gateway", async () => {
    const { url } = await postgresDatabase();
    const start = () => teamGateway(temp(), { flags: ["--store", url], env });
    const [one, two] = [await start(), await start()];
    await one.api("POST", "/mcp-servers", { name: "fix", ...fixture() });
    const namespace = await one.api("POST", "/namespaces", { name: "team", servers: [{ server: "fix" }] });
    await one.api("POST", "/endpoints", { name: "team", namespaces: ["team"], surface: "aggregate" });
    const made = (await one.api("POST", "/api-keys", { name: "both", endpoints: "all" })).body;
    const client = await until(() => teamClient(two, "team", { key: made.key }).catch(() => undefined));
    expect(await client.tools()).toContain("fix__echo");
    const { uuid, createdAt, updatedAt } = namespace.body;
    for (const { api } of [one, two])
      expect((await api("GET", `/namespaces/${uuid}`)).body).toMatchObject({ createdAt, updatedAt });
    const tools = [{ server: "fix", tool: "echo", name: "say" }];
    await one.api("PATCH", `/namespaces/${uuid}`, { tools });
    await until(() => client.listChanges === 1);
    expect(await client.tools()).toContain("fix__say");
    // Two concurrent changes of one object: the second is repeated on top of the first.
    const descriptions = await Promise.all(
      [one, two].map(({ api }, n) =>
        api("PATCH", `/namespaces/${namespace.body.uuid}`, { description: `${n}` }),
      ),
    );
    expect(descriptions.map(({ status }) => status)).toEqual([200, 200]);
    const shown = async ({ api }: typeof one) => (await api("GET", "/config")).body;
    await until(async () => JSON.stringify(await shown(one)) === JSON.stringify(await shown(two)));
    await one.api("DELETE", `/api-keys/${made.uuid}`);
    await until(() =>
      client.tools().then(
        () => false,
        () => true,
      ),
    );
  });

  test("a revoked key and a disabled account lose their streams at the other gateway too", async () => {
    const database = await postgresDatabase();
    const start = () => teamGateway(temp(), { flags: ["--store", database.url], env });
    const [one, two] = [await start(), await start()];
    await one.api("POST", "/mcp-servers", { name: "fix", ...fixture() });
    await one.api("POST", "/namespaces", { name: "team", servers: [{ server: "fix" }] });
    await one.api("POST", "/endpoints", { name: "team", namespaces: ["team"], surface: "aggregate" });
    const ada = await teamPerson(one, "member", { email: "ada@example.org" });
    const made = [
      (await one.api("POST", "/api-keys", { name: "leaves", endpoints: "all" })).body,
      (await ada.ask("POST", "/api-keys", { name: "hers", endpoints: "all" })).body,
    ];
    const stays = await one.key();
    const streams = [];
    for (const key of [...made.map(({ key }) => String(key)), stays]) {
      const headers = { "x-api-key": key };
      const opened = () => fetch(`${two.url}/metamcp/team/sse`, { headers });
      const stream = await until(async () => {
        const answer = await opened();
        return answer.status === 200 ? answer : undefined;
      });
      streams.push({ ended: stream.text().then(() => true), again: async () => (await opened()).status });
    }
    const [leaves, hers, others] = streams;
    const { cookie } = ada;
    const me = async () => (await adminFetch(`${two.url}/api/v1/me`, { headers: { cookie } })).status;
    await until(async () => (await me()) === 200);
    await one.api("DELETE", `/api-keys/${made[0]?.["uuid"]}`);
    expect(await leaves?.ended).toBe(true);
    expect(await leaves?.again()).toBe(401);
    await one.api("PATCH", `/users/${ada.uuid}`, { disabled: true });
    expect(await hers?.ended).toBe(true);
    expect(await hers?.again()).toBe(401);
    expect(await me()).toBe(401);
    expect(await Promise.race([others?.ended, Promise.resolve("open")])).toBe("open");
  });
});
