/** Two gateways on one Postgres: what is changed at one is served by the other. */
import { describe, expect, test } from "vitest";
import { noPostgres, postgresPlace } from "../support/store-places.ts";
import { teamClient, teamGateway } from "../support/team-gateway.ts";
import { fixture, temp } from "../support/temp.ts";
import { until } from "../support/until.ts";

const env = { METAMCP_SECRET_KEY: "a-secret-for-both-gateways-0123456789" };

describe.skipIf(noPostgres)(`on Postgres${noPostgres ? ` (left out: ${noPostgres})` : ""}`, () => {
  test("objects, keys and their end reach the other gateway", async () => {
    const { url } = await postgresPlace();
    const start = () => teamGateway(temp(), { flags: ["--store", url], env });
    const [one, two] = [await start(), await start()];
    await one.api("POST", "/mcp-servers", { name: "fix", ...fixture() });
    const namespace = await one.api("POST", "/namespaces", { name: "team", servers: [{ server: "fix" }] });
    await one.api("POST", "/endpoints", { name: "team", namespaces: ["team"], surface: "aggregate" });
    const made = (await one.api("POST", "/api-keys", { name: "both", endpoints: "all" })).body;
    const client = await until(() => teamClient(two, "team", { key: made.key }).catch(() => undefined));
    expect(await client.tools()).toContain("fix__echo");
    const tools = [{ server: "fix", tool: "echo", name: "say" }];
    await one.api("PATCH", `/namespaces/${namespace.body.uuid}`, { tools });
    await until(() => client.told === 1);
    expect(await client.tools()).toContain("fix__say");
    // Both at once on one object: the second is made again on top of the first.
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
});
