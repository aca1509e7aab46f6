/** What a person sees who starts the built product on a terminal for the first time, and what a client sees. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { metamcp } from "../support/command.ts";
import { gateway } from "../support/gateway.ts";
import { noTerminal, PseudoTerminal } from "../support/pseudo-terminal.ts";
import { fixture, temp as named, ROOT, type Temp, unnamed } from "../support/temp.ts";

const temp = (): Temp => unnamed(named());

const reason = noTerminal();
const terminalTest = reason === undefined ? test : test.skip;
const titled = (title: string): string => (reason === undefined ? title : `${title} (skipped: ${reason})`);

function sitDown(folder: Temp, ...flags: string[]): PseudoTerminal {
  const command = [process.execPath, join(ROOT, "dist/metamcp.js"), ...flags];
  return new PseudoTerminal(command, folder.path("."), { ...folder.env, HOME: folder.folder });
}

terminalTest(titled("a person without a config is asked, and ends up with one"), async () => {
  const folder = temp();
  const terminal = sitDown(folder);
  await terminal.sees(/\] > /);
  expect(terminal.screen).toContain("There is no config yet");
  expect(terminal.screen).toContain(join(folder.home, "mcp.json"));
  terminal.type("add\r");
  await terminal.sees("(Enter to quit) > ");
  terminal.type("memory\r");
  await terminal.sees("metamcp doctor");
  expect(await terminal.exited).toBe(0);
  const { mcpServers } = JSON.parse(readFileSync(join(folder.home, "mcp.json"), "utf8")) as {
    mcpServers: object;
  };
  expect(Object.keys(mcpServers)).toEqual(["memory"]);
});

terminalTest(titled("who types ahead is heard"), async () => {
  const folder = temp();
  const terminal = sitDown(folder);
  terminal.type("what\radd\rmemory time\r");
  await terminal.sees("metamcp doctor");
  expect(await terminal.exited).toBe(0);
  const { mcpServers } = JSON.parse(readFileSync(join(folder.home, "mcp.json"), "utf8")) as {
    mcpServers: object;
  };
  expect(Object.keys(mcpServers)).toEqual(["memory", "time"]);
});

terminalTest(titled("who leaves leaves nothing behind"), async () => {
  for (const leaving of ["quit\r", "\x03", "\x04"]) {
    const folder = temp();
    const terminal = sitDown(folder);
    await terminal.sees(/\] > /);
    terminal.type(leaving);
    expect([leaving, await terminal.exited]).toEqual([leaving, 0]);
    expect(existsSync(join(folder.home, "mcp.json"))).toBe(false);
  }
});

terminalTest(titled("who goes on is served, and whoever has a config is not asked"), async () => {
  const first = temp();
  const asked = sitDown(first);
  await asked.sees(/\] > /);
  asked.type("serve\r");
  await asked.sees("is waiting for an MCP client on stdin and stdout");
  asked.type('{"jsonrpc":"2.0","id":1,"method":"ping"}\r');
  await asked.sees('"result":{}');
  asked.type("\x03");
  expect(await asked.exited).toBe(0);

  const second = named();
  second.writeConfig({ a: fixture() });
  const served = sitDown(second);
  await served.sees("is waiting for an MCP client on stdin and stdout");
  expect(served.screen).not.toContain("What would you like");
  served.type("\x03");
  expect(await served.exited).toBe(0);
});

test("a client is never asked, config or not", async () => {
  const folder = temp();
  const client = gateway(folder, { env: { HOME: folder.folder } });
  expect(await client.initialize()).toBeDefined();
  expect(client.strays).toEqual([]);
  expect(client.stderr).not.toContain("What would you like");

  const ended = await metamcp(folder, [], "");
  expect([ended.code, ended.out]).toEqual([0, ""]);
});
