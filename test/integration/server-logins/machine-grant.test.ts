/** MetaMCP gets tokens for itself (`oauth.grant`) at a server that is a gateway of ours. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { exportPKCS8 } from "jose";
import { expect, test } from "vitest";
import { metamcp } from "../../support/command.ts";
import { gateway } from "../../support/gateway.ts";
import { resourceOf, secretMachine, signingMachine } from "../../support/machine-client.ts";
import { failureOf, textOf } from "../../support/meta.ts";
import { oauthTeam } from "../../support/oauth-team.ts";
import { shared } from "../../support/shared.ts";
import { temp } from "../../support/temp.ts";

const team = shared(() => oauthTeam());
const grant = "client_credentials";
const ECHO = { message: "hello" };

test.each(["secret", "key"])(
  "with a %s it works without a login, and ends with the client",
  async (proof) => {
    const { url, api } = team();
    const folder = temp();
    const machine = proof === "secret" ? await secretMachine(team()) : await signingMachine(team());
    const credential = "secret" in machine ? machine.secret : await exportPKCS8(machine.pair.privateKey);
    const oauth = {
      grant,
      clientId: machine.id,
      [proof === "secret" ? "clientSecret" : "privateKey"]: "${CREDENTIAL}",
    };
    folder.writeConfig({ team: { url: resourceOf(url, "one"), oauth } });
    Object.assign(folder.env, { CREDENTIAL: credential });
    const client = gateway(folder, { flags: ["--log-level", "debug"] });
    await client.initialize();
    expect(textOf(await client.mcpCall("team", "fix__echo", ECHO))).toContain("hello");

    const status = await metamcp(folder, ["auth", "--status"]);
    expect(status.out).toContain("MetaMCP gets tokens for itself; it has one");
    const tried = await metamcp(folder, ["auth", "team"]);
    expect(tried).toMatchObject({ code: 0, out: expect.stringContaining("MetaMCP got a token for itself") });
    expect(textOf(await client.mcpCall("team", "fix__echo", ECHO))).toContain("hello");

    await api("DELETE", `/api-keys/${machine.id}`);
    const refused = failureOf(await client.mcpCall("team", "fix__echo", ECHO));
    expect(refused).toMatchObject({ code: "auth_required" });
    expect(refused.message).toMatch(/invalid_client.*Check oauth.clientId/s);
    const doctor = await metamcp(folder, ["doctor"]);
    expect(doctor.out).toMatch(/Check its oauth.clientId.*\$ metamcp auth team/s);
    const again = await metamcp(folder, ["auth", "team"]);
    expect(again).toMatchObject({ code: 1, err: expect.stringContaining("invalid_client") });

    const stored = readFileSync(join(folder.home, "oauth/team/tokens.json"), "utf8");
    const written = [client.stderr, ...[status, tried, doctor, again].flatMap(({ out, err }) => [out, err])];
    const token = JSON.parse(stored).grants[0].accessToken;
    for (const secret of [credential, credential.split("\n")[1] ?? credential])
      expect([stored, ...written].filter((text) => text.includes(secret))).toEqual([]);
    expect(written.filter((text) => text.includes(token))).toEqual([]);
  },
);

test("what is wrong in the settings disables the entry and is said", async () => {
  const folder = temp();
  const url = resourceOf(team().url, "one");
  const entries = {
    noclient: { url, oauth: { grant, clientSecret: "s" } },
    both: { url, oauth: { grant, clientId: "a", clientSecret: "s", privateKey: "k" } },
    none: { url, oauth: { grant, clientId: "a" } },
    other: { url, oauth: { grant: "password", clientId: "a", clientSecret: "s" } },
    keyonly: { url, oauth: { clientId: "a", privateKey: "k" } },
    garbage: { url, oauth: { grant, clientId: "a", privateKey: "no key at all" } },
  };
  folder.writeConfig(entries);
  const { out, err } = await metamcp(folder, ["doctor", "--json"]);
  for (const name of ["noclient", "both", "none"])
    expect(`${out}${err}`).toMatch(new RegExp(`${name}[^]*?oauth.grant needs clientId`));
  expect(`${out}${err}`).toContain("oauth.grant can only be");
  expect(`${out}${err}`).toContain("oauth.privateKey needs");
  expect(`${out}${err}`).toContain("oauth.privateKey is not a private key");
  expect(`${out}${err}`).not.toContain("no key at all");
});
