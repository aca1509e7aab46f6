/** A bundle that was installed at one gateway runs at all gateways on the store. */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { fakeRegistry, fixtureBundle, npmEntry } from "../../support/registry.ts";
import { inStep, makeTeam, onPostgres, request2026, twoReplicas } from "../../support/replicas.ts";
import { teamClient } from "../../support/team-gateway.ts";
import { fixture } from "../../support/temp.ts";

onPostgres("bundles", () => {
  test("each gateway unpacks the bundle that another one installed", async () => {
    const bundle = fixtureBundle();
    const fileSha256 = createHash("sha256").update(bundle).digest("hex");
    const entry = {
      ...npmEntry("io.github.fixture/weather", "Weather forecasts for any city in the world."),
      packages: [
        {
          registryType: "mcpb",
          identifier: "http://registry.test/weather.mcpb",
          fileSha256,
          transport: { type: "stdio" },
        },
      ],
    };
    const { url } = await fakeRegistry([entry], { "/weather.mcpb": bundle });
    const { one, two } = await twoReplicas({ env: { METAMCP_REGISTRY_URL: url } });
    const servers = { fix: fixture("--bare", "--tools", "1") };
    const key = await makeTeam(one, servers, { meta: { surface: "meta" }, all: { surface: "aggregate" } });
    const client = await teamClient(one, "meta", { key });
    const intent = "weather forecast for a city";
    const { request } = JSON.parse(await client.call("mcp_provision", { intent, autoProvision: true }));
    const approved = await one.api("POST", `/provision-requests/${request.uuid}/approve`);
    expect([approved.status, approved.body]).toMatchObject([200, { state: "approved" }]);
    expect(existsSync(join(two.folder.home, "bundles"))).toBe(false);

    await inStep([one, two], key, "all");
    for (const { folder, ...gateway } of [one, two].map((at) => ({ folder: at.folder, url: at.url }))) {
      const call = { name: "weather__echo", arguments: { message: "sunny" } };
      const answer = await request2026(gateway, "all", key, "tools/call", call);
      expect(answer.result?.content?.[0]?.text, JSON.stringify(answer)).toBe("sunny");
      expect(existsSync(join(folder.home, "bundles"))).toBe(true);
    }
    const { items } = (await two.api("GET", "/mcp-servers")).body;
    const weather = items.find(({ name }: { name: string }) => name === "weather");
    expect(JSON.stringify(weather)).toContain("${METAMCP_BUNDLES}");
    expect(JSON.stringify(weather)).not.toContain(one.folder.home);
  });
});
