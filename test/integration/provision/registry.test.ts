/** Registries that are unavailable, invalid or hostile. */
import { expect, test } from "vitest";
import { metamcp } from "../../support/command.ts";
import { textOf } from "../../support/meta.ts";
import { openGateway, provision, started, trust, WEATHER } from "../../support/provisioning.ts";
import { fakeRegistry, npmEntry } from "../../support/registry.ts";
import { fixture, temp } from "../../support/temp.ts";

test.each([
  ["down", (response: { destroy(): void }) => response.destroy()],
  [
    "broken",
    (response: { end(text: string): void }) => response.end("<html>Welcome to the hotel's wifi</html>"),
  ],
  ["silent", () => {}],
])(
  "with a registry that is %s the gateway starts without delay and offers the gallery",
  async (_what, misbehave) => {
    const folder = temp();
    folder.writeConfig({ a: fixture() });
    const { url, requests } = await fakeRegistry(misbehave as never);
    const client = await openGateway(folder, { url });
    expect(textOf(await client.mcpCall("a", "echo", { message: "at once" }))).toBe("at once");
    expect(requests).toEqual([]);
    const answer = await provision(client, "query a PostgreSQL database with SQL");
    expect(answer.matches?.[0]).toMatchObject({ from: "gallery" });
    expect(answer).toMatchObject({ notice: expect.stringMatching(/registry/i) });
    await client.close();
  },
);

test("an invalid registry entry is not shown", async () => {
  const folder = temp();
  folder.writeConfig({});
  trust(folder, { allow: ["io.github.fixture/*", "io.github.evil/*"] });
  const hostile = [
    { ...WEATHER, name: "io.github.evil/../../weather" },
    npmEntry("io.github.evil/weather", "Weather forecasts for any city.", {
      identifier: "x; touch /tmp/pwned",
    }),
    npmEntry("io.github.evil/weather-two", "Weather forecasts for any city.", { version: "$(id)" }),
  ];
  const { url } = await fakeRegistry(hostile as never);
  const client = await openGateway(folder, { url });
  const answer = await provision(client, "weather forecast for a city", { autoProvision: true });
  expect(JSON.stringify(answer)).not.toContain("evil");
  expect(started(folder)).toBe(0);
  await client.close();
});

test.each(["ftp://example.com", "example.com", "https://me:secret@example.com"])(
  "%s is rejected as a registry address",
  async (url) => {
    const folder = temp();
    const { code, err } = await metamcp(folder, ["--registry-url", url], "");
    expect(code).toBe(2);
    expect(err).toMatch(/--registry-url/);
    expect(err).not.toContain("secret");
  },
);
