/** `metamcp doctor`: every fault of a server is found and comes with advice. */
import { symlinkSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { metamcp } from "../../support/command.ts";
import { WHY_NOT } from "../../support/confined.ts";
import { webServer } from "../../support/http-child.ts";
import { fixture, temp } from "../../support/temp.ts";

const json = ({ out }: { readonly out: string }): Record<string, unknown> =>
  JSON.parse(out) as Record<string, unknown>;

test("doctor reports each fault with advice", async () => {
  const folder = temp();
  const web = await webServer();
  const notExecutable = folder.path("plain.txt");
  writeFileSync(notExecutable, "no program", { mode: 0o644 });
  const quick = { connectTimeoutMs: 2_500 };
  const npx = folder.path("npx");
  symlinkSync(process.execPath, npx);
  const noList = fileURLToPath(new URL("../../fixture/no-list.mjs", import.meta.url));
  const faults: Record<string, [entry: object | null, problem: RegExp, advice?: RegExp]> = {
    exits: [fixture("--exit-at-once", "7"), /exited with code 7/, /yourself.*child\.mjs --exit-at-once 7/s],
    speaks: [
      { command: process.execPath, args: ["-e", "throw new Error('no database')"] },
      /exited with code 1.*no database/s,
      /yourself/,
    ],
    keyless: [
      { command: process.execPath, args: ["-e", "throw new Error('API key METAMCP_TEST_KEY is missing')"] },
      /METAMCP_TEST_KEY is missing/,
      /Add to its entry: "inheritEnv": \["METAMCP_TEST_KEY"\]\n→ Run it yourself.*env -i .*PATH="\$PATH"/s,
    ],
    silent: [
      { ...fixture("--no-initialize"), ...quick },
      /not ready within 2500 ms \(connectTimeoutMs\)/,
      /yourself/,
    ],
    fetched: [
      { ...fixture("--no-initialize"), command: npx, ...quick },
      /not ready within 2500 ms .*npx may be downloading it/,
      /yourself/,
    ],
    chatters: [
      { command: process.execPath, args: ["-e", "setInterval(() => console.log('Usage: x'), 50)"], ...quick },
      /not ready within 2500 ms .*last output: Usage: x \(on stdout, which is only for protocol messages\)/,
      /yourself/,
    ],
    prints: [
      { command: process.execPath, args: ["-e", "console.log('Usage: x --stdio')"] },
      /exited with code 0\. Its output: Usage: x --stdio \(on stdout/,
      /yourself/,
    ],
    refuses: [fixture("--refuse-initialize"), /refused the handshake/, /yourself/],
    unlisted: [
      { command: process.execPath, args: [noList, noList] },
      /its tools could not be listed: not today/,
      /--log-level debug/,
    ],
    missing: [{ command: "no-such-program-anywhere" }, /"no-such-program-anywhere" was not found/],
    plain: [{ command: notExecutable }, /plain\.txt/],
    homeless: [{ ...fixture(), cwd: "nowhere" }, /nowhere/],
    variable: [
      { command: "x", args: [`\${METAMCP_TEST_UNSET}`] },
      /METAMCP_TEST_UNSET is not set/,
      /Fix this entry/,
    ],
    malformed: [null, /it is null/, /Fix this entry/],
    refused: [
      { url: "http://127.0.0.1:9/mcp" },
      /refused the connection/,
      /curl -i http:\/\/127\.0\.0\.1:9\/mcp/,
    ],
    locked: [{ url: `${web}/401` }, /answered 401/, /credentials in its "headers"/],
    elsewhere: [{ url: `${web}/404` }, /answered 404.*sse/, /curl/],
    ailing: [{ url: `${web}/500` }, /answered 500/, /curl/],
    page: [{ url: `${web}/html` }, /html/i, /curl/],
  };
  folder.writeConfig(
    {
      ...Object.fromEntries(Object.entries(faults).map(([name, [entry]]) => [name, entry])),
      well: { ...fixture("--flood-stderr", "--garbage"), comand: "x", timeoutMs: "long" },
      off: { command: "x", disabled: true },
    },
    { pol: {} },
  );
  const [forPeople, forPrograms] = await Promise.all([
    metamcp({ ...folder, env: { ...folder.env, METAMCP_PROT: "1" } }, ["doctor"]),
    metamcp({ ...folder, env: { ...folder.env, METAMCP_TEST_KEY: "1" } }, ["doctor", "--json"]),
  ]);
  expect([forPeople.code, forPrograms.code]).toEqual([1, 1]);
  const { servers } = json(forPrograms) as {
    servers: { server: string; ok: boolean; problem: string; advice?: string }[];
  };
  for (const [name, [, problem, advice]] of Object.entries(faults)) {
    const finding = servers.find(({ server }) => server === name);
    expect(finding, name).toMatchObject({ ok: false, problem: expect.stringMatching(problem) });
    if (advice) expect(finding?.advice, name).toMatch(advice);
    expect(finding?.problem).not.toMatch(/tried again|effects/);
    expect(forPeople.out).toMatch(new RegExp(`^✗ ${name} `, "m"));
  }
  expect(servers.find(({ server }) => server === "well")).toMatchObject({
    ok: true,
    tools: 23,
    ms: expect.any(Number),
  });
  expect(forPeople.out).toMatch(/^✓ well +23 tools in \d+ ms$/m);
  expect(forPeople.out).toMatch(/^- off +disabled$/m);
  expect(forPeople.out).toMatch(
    /^! well: the key "comand" is unknown and ignored\. Did you mean "command"\?$/m,
  );
  expect(forPeople.out).toMatch(/^! well: timeoutMs is ignored/m);
  expect(forPeople.out).toMatch(/^! the key "pol" is unknown and ignored\. Did you mean "pool"\?$/m);
  expect(forPeople.out).toMatch(/^! METAMCP_PROT is not a known variable\. Did you mean "METAMCP_PORT"\?$/m);
  expect(forPeople.out).toMatch(/19 of 20 servers failed\.\n$/);
  expect(forPeople.err).toBe("");

  const [one, none] = await Promise.all([
    metamcp(folder, ["doctor", "well"]),
    metamcp(folder, ["doctor", "wel"]),
  ]);
  expect(one).toMatchObject({ code: 0, out: expect.stringMatching(/All servers OK\./) });
  expect(none).toMatchObject({ code: 1, out: expect.stringMatching(/no server of this name is configured/) });
  const nothing = await metamcp(temp(), ["doctor"]);
  expect(nothing).toMatchObject({ code: 1, out: expect.stringMatching(/This file does not exist/) });
});

const skipped = WHY_NOT === undefined ? "" : ` (skipped: ${WHY_NOT})`;

test.skipIf(skipped !== "")(`nobody is told to run a confined server unconfined${skipped}`, async () => {
  const folder = temp();
  folder.writeConfig({ exits: { ...fixture("--exit-at-once", "7"), sandbox: true } });
  const { out } = await metamcp(folder, ["doctor", "--json"]);
  const [{ problem, advice = "" } = {}] = (json({ out }) as { servers: Record<string, string>[] }).servers;
  expect(problem).toMatch(/exited with code 7/);
  expect(advice).toMatch(/add that to its "sandbox":\n\$ metamcp doctor exits --log-level debug/);
  expect(advice).not.toMatch(/yourself/);
});
