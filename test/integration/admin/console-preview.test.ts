/** The preview of an endpoint in the console: exactly what a client gets. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { expect, onTestFinished, test } from "vitest";
import { layeredTeam, SURFACES } from "../../support/layered-team.ts";
import { teamPerson } from "../../support/team-person.ts";
import { FIXTURE_TOOLS } from "../../support/temp.ts";

async function seenBy(url: string, endpoint: string, key: string) {
  const client = new Client({ name: "test", version: "1.0.0" });
  const at = new URL(`${url}/metamcp/${endpoint}/mcp`);
  const headers = { "x-api-key": key };
  await client.connect(new StreamableHTTPClientTransport(at, { requestInit: { headers } }) as never);
  onTestFinished(() => client.close());
  const { tools } = await client.listTools();
  return { tools, instructions: client.getInstructions() };
}

test.each(SURFACES)(
  "the preview of the %s surface equals the tools and instructions of a client, with their token cost",
  async (surface) => {
    const { gateway, api, key } = await layeredTeam({
      namespace: { description: "For the team.", tools: [{ server: "fix", tool: "echo", disabled: true }] },
    });
    if (surface !== "aggregate") {
      const { body: first } = await api("GET", `/endpoints/${surface}/preview`);
      expect(first).toMatchObject({ full: { tools: 0 }, unknown: ["fix"] });
      await api("POST", "/mcp-servers/fix/connect");
    }
    const seen = await seenBy(gateway.url, surface, key);
    const { status, body } = await api("GET", `/endpoints/${surface}/preview`);
    expect(status).toBe(200);
    expect(body.tools.map(({ definition }: { definition: unknown }) => definition)).toEqual(seen.tools);
    expect(body.instructions.text).toBe(seen.instructions);
    expect(body).toMatchObject({
      surface,
      url: `${gateway.url}/metamcp/${surface}/mcp`,
      full: { tools: FIXTURE_TOOLS - 1 },
      unknown: [],
      unavailable: [],
    });
    for (const { bytes, tokens } of [...body.tools, body.total, body.full, body.instructions])
      expect(tokens).toBe(Math.ceil(bytes / 4.4));
    const listed = body.tools.reduce((sum: number, { bytes }: { bytes: number }) => sum + bytes, 0);
    expect(body.total.bytes).toBeGreaterThanOrEqual(listed + body.instructions.bytes);
    if (surface !== "aggregate") expect(body.full.bytes).toBeGreaterThan(0);
    // The preview is not a client: it changes no statistics and opens no session.
    const { body: stats } = await api("GET", "/stats");
    await api("GET", `/endpoints/${surface}/preview`);
    expect((await api("GET", "/stats")).body.totals).toEqual(stats.totals);
    expect((await api("GET", "/sessions")).body.items).toHaveLength(1);
  },
);

test("a preview shows what the user may see, and administrators can view it as another user", async () => {
  const policy = {
    use: "policy",
    rules: [
      { who: { groups: ["ops"] }, effect: "allow" },
      { tools: ["fix:echo"], effect: "allow" },
    ],
  };
  const { gateway, api } = await layeredTeam({ endpoint: { middleware: [policy] } });
  await api("PATCH", "/endpoints/metatools", { access: { allow: { groups: ["ops"] } } });
  const root = await teamPerson(gateway, "admin");
  const bob = await teamPerson(gateway, "member", { email: "bob@example.org" });
  const ada = await teamPerson(gateway, "member", { email: "ada@example.org", groups: ["ops"] });
  const names = async (ask: typeof root.ask, query = "") => {
    const { body } = await ask("GET", `/endpoints/aggregate/preview${query}`);
    return (body["tools"] as unknown as { definition: { name: string } }[]).map(
      ({ definition: { name } }) => name,
    );
  };
  expect(await names(bob.ask)).toEqual(["fix__echo"]);
  expect(await names(ada.ask)).toHaveLength(FIXTURE_TOOLS);
  expect(await names(root.ask, "?as=bob@example.org")).toEqual(["fix__echo"]);
  expect(await names(root.ask, `?as=${ada.uuid}`)).toHaveLength(FIXTURE_TOOLS);
  expect((await bob.ask("GET", `/endpoints/aggregate/preview?as=${ada.uuid}`)).status).toBe(403);
  expect((await bob.ask("GET", "/endpoints/metatools/preview")).status).toBe(404);
  const refused = await root.ask("GET", `/endpoints/metatools/preview?as=${bob.uuid}`);
  expect(refused.body).toMatchObject({
    as: { kind: "account", id: bob.uuid, name: "bob@example.org" },
    refused: expect.stringContaining("access.allow"),
  });
  await api("PATCH", "/endpoints/meta", { disabled: true });
  expect((await root.ask("GET", "/endpoints/meta/preview")).status).toBe(409);
});

test("the preview of an auto endpoint with few tools shows the aggregate surface, and lists unavailable servers", async () => {
  const { api } = await layeredTeam({ endpoint: { surface: "auto" } });
  const { body } = await api("GET", "/endpoints/meta/preview");
  expect(body.surface).toBe("aggregate");
  await api("PATCH", "/mcp-servers/fix", { command: "/nowhere/to/be/found" });
  const down = await api("GET", "/endpoints/meta/preview");
  expect(down.body.unavailable).toMatchObject([
    { server: "fix", reason: expect.stringContaining("/nowhere/to/be/found") },
  ]);
  expect(down.body.full.tools).toBe(0);
});
