/**
 * Hints for users without a config and for misspelled names: they name the next command, not a tool for
 * models.
 */
import { expect, test } from "vitest";
import { metamcp } from "../../support/command.ts";
import { noTerminal, PseudoTerminal } from "../../support/pseudo-terminal.ts";
import { fixture, ROOT, temp } from "../../support/temp.ts";

const BY_COMMAND = /"metamcp import" copies .*"metamcp add --list" shows/;

test("without a config every command says how to get one", async () => {
  const folder = temp();
  const run = (...args: string[]) => metamcp(folder, args);
  const [list, doctor, search, tools] = await Promise.all([
    run("list"),
    run("doctor"),
    run("search", "read a file"),
    run("tools"),
  ]);
  for (const { out } of [list, doctor, search]) expect(out).toMatch(BY_COMMAND);
  expect([list.code, doctor.code, search.code]).toEqual([0, 1, 0]);
  expect(tools.out).toContain(
    'The tools of your servers are not known yet. To list them, run "metamcp doctor"',
  );
});

test("init prints the entry for a client if no client is installed", async () => {
  const folder = temp();
  const env = { ...folder.env, HOME: folder.folder, XDG_CONFIG_HOME: folder.path("none") };
  const { code, out } = await metamcp({ ...folder, env }, ["init"]);
  expect([code, out]).toEqual([0, expect.stringMatching(/Not installed here: claude-desktop, .*copilot\./)]);
  expect(out).toMatch(/^ {2}"metamcp": \{"command":".*","args":\[".*metamcp\.js","--config",/m);
});

test("hints name commands, and one call is counted in the singular", async () => {
  const folder = temp();
  folder.writeConfig({ a: fixture() });
  folder.write("one.js", "await tools.a.add({ a: 1, b: 2 })");
  const [tool, server, described, exec] = await Promise.all([
    metamcp(folder, ["call", "a", "ad"]),
    metamcp(folder, ["call", "b", "add"]),
    metamcp(folder, ["describe", "a:ad"]),
    metamcp(folder, ["exec", "one.js"]),
  ]);
  for (const { code, err } of [tool, server, described])
    expect([code, err]).toEqual([1, expect.stringContaining('"metamcp search" shows what is available.')]);
  expect(exec.err).toMatch(/^1 call, \d+ ms$/m);
});

test.skipIf(noTerminal() !== undefined)("help fits into 80 columns", async () => {
  const folder = temp();
  const narrow = ["sh", "-c", 'stty cols 80 && exec "$@"', "sh"];
  const command = [...narrow, process.execPath, `${ROOT}/dist/metamcp.js`, "--help"];
  const terminal = new PseudoTerminal(command, folder.path("."), folder.env);
  expect(await terminal.exited).toBe(0);
  const lines = terminal.screen.split(/\r?\n/);
  expect(lines.length).toBeGreaterThan(30);
  expect(lines.filter((line) => line.length > 80)).toEqual([]);
});
