/** Secrets of a config that must be in no output, log or answer. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { metamcp } from "../../support/command.ts";
import { gateway } from "../../support/gateway.ts";
import { webServer } from "../../support/http-child.ts";
import { fixture, temp } from "../../support/temp.ts";

test("secrets are neither printed nor logged", async () => {
  const folder = temp();
  const web = await webServer();
  const secrets = {
    env: "hush-env-4711",
    variable: "hush-variable-4711",
    flag: "hush-flag-4711",
    pair: "hush-pair-4711",
    bearer: "hush-bearer-4711",
    query: "hush-query-4711",
    path: "hush4711hush4711hush4711",
    header: "hush-header-4711",
  };
  const args = [
    "--token",
    secrets.flag,
    `--api-key=${secrets.pair}`,
    "--header",
    `Authorization: Bearer ${secrets.bearer}`,
  ];
  const says =
    "console.error('started with', process.env.API_KEY, process.env.GITHUB_TOKEN); process.exit(1)";
  const env = { API_KEY: secrets.env, GITHUB_TOKEN: `\${HUSH}` };
  folder.writeConfig({
    local: { ...fixture(...args, `\${HUSH}`, `--url=${web}`), env },
    dies: { command: process.execPath, args: ["-e", says, "--", ...args], env },
    remote: {
      url: `${web}/404/${secrets.path}?key=${secrets.query}`,
      headers: { Authorization: `Bearer ${secrets.header}`, "X-Api-Key": `\${HUSH}` },
    },
    broken: {
      url: `ftp://u:${secrets.pair}@h/?${secrets.query}`,
      env: [secrets.env],
      headers: { A: 5, B: `${secrets.header}\n.` },
    },
  });
  const given = { HUSH: secrets.variable };
  const secretive = { ...folder, env: { ...folder.env, ...given } };
  const log = folder.path("log");
  const debug = ["--log-level", "debug"];
  const ended = await Promise.all([
    metamcp(secretive, ["list"]),
    metamcp(secretive, ["list", "--json"]),
    metamcp(secretive, ["doctor", ...debug]),
    metamcp(secretive, ["doctor", "--json"]),
    metamcp(secretive, ["search", "echo", ...debug]),
    metamcp(secretive, ["call", "dies", "echo", ...debug]),
    metamcp(secretive, ["call", "remote", "echo", ...debug, "--log-file", log]),
  ]);
  const client = gateway(folder, { flags: debug, env: given });
  await client.initialize();
  const answers = await Promise.all([
    client.tool("mcp_discover"),
    client.tool("mcp_discover", { query: "echo" }),
    ...["local", "dies", "remote", "broken"].map((server) =>
      client.mcpCall(server, "echo", { message: "hi" }),
    ),
  ]);
  await client.close();
  const all = [
    ...ended.map(({ out, err }) => out + err),
    JSON.stringify(answers),
    client.stderr,
    readFileSync(log, "utf8"),
  ];
  for (const [name, secret] of Object.entries(secrets))
    expect(
      all.filter((text) => text.includes(secret)),
      name,
    ).toEqual([]);
  // The output does contain the other parts.
  expect(ended[0]?.out).toMatch(
    /--token '\[secret\]' '--api-key=\[secret\]' --header 'Authorization: \[secret\]' "\$\{HUSH\}"/,
  );
  expect(ended[0]?.out).toContain(`${web}/404/[secret]`);
  expect(client.stderr).toMatch(/started with \[secret\] \[secret\]/);
});
