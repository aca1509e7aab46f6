/** The first start of the built product, on a terminal and by a client. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { metamcp } from "../../support/command.ts";
import { gateway } from "../../support/gateway.ts";
import { noTerminal, PseudoTerminal } from "../../support/pseudo-terminal.ts";
import { fixture, temp as named, ROOT, type Temp, withoutConfigVariable } from "../../support/temp.ts";

const temp = (): Temp => withoutConfigVariable(named());

const obstacle = noTerminal();
const terminalTest = obstacle === undefined ? test : test.skip;
const withObstacle = (title: string): string =>
  obstacle === undefined ? title : `${title} (skipped: ${obstacle})`;

function startOnTerminal(folder: Temp, ...flags: string[]): PseudoTerminal {
  const command = [process.execPath, join(ROOT, "dist/metamcp.js"), ...flags];
  return new PseudoTerminal(command, folder.path("."), { ...folder.env, HOME: folder.folder });
}

terminalTest(withObstacle("a first start without config asks what to do and writes a config"), async () => {
  const folder = temp();
  const terminal = startOnTerminal(folder);
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

terminalTest(withObstacle("input typed before the questions appear is used"), async () => {
  const folder = temp();
  const terminal = startOnTerminal(folder);
  terminal.type("what\radd\rmemory time\r");
  await terminal.sees("metamcp doctor");
  expect(await terminal.exited).toBe(0);
  const { mcpServers } = JSON.parse(readFileSync(join(folder.home, "mcp.json"), "utf8")) as {
    mcpServers: object;
  };
  expect(Object.keys(mcpServers)).toEqual(["memory", "time"]);
});

terminalTest(withObstacle("quitting the first start writes no config"), async () => {
  for (const leaving of ["quit\r", "\x03", "\x04"]) {
    const folder = temp();
    const terminal = startOnTerminal(folder);
    await terminal.sees(/\] > /);
    terminal.type(leaving);
    expect([leaving, await terminal.exited]).toEqual([leaving, 0]);
    expect(existsSync(join(folder.home, "mcp.json"))).toBe(false);
  }
});

terminalTest(
  withObstacle("the answer serve starts the gateway, and with a config there is no question"),
  async () => {
    const first = temp();
    const asked = startOnTerminal(first);
    await asked.sees(/\] > /);
    asked.type("serve\r");
    await asked.sees("is waiting for an MCP client on stdin and stdout");
    asked.type('{"jsonrpc":"2.0","id":1,"method":"ping"}\r');
    await asked.sees('"result":{}');
    asked.type("\x03");
    expect(await asked.exited).toBe(0);

    const second = named();
    second.writeConfig({ a: fixture() });
    const served = startOnTerminal(second);
    await served.sees("is waiting for an MCP client on stdin and stdout");
    expect(served.screen).not.toContain("What would you like");
    served.type("\x03");
    expect(await served.exited).toBe(0);
  },
);

test("a client is not asked, with or without a config", async () => {
  const folder = temp();
  const client = gateway(folder, { env: { HOME: folder.folder } });
  expect(await client.initialize()).toBeDefined();
  expect(client.strays).toEqual([]);
  expect(client.stderr).not.toContain("What would you like");

  const ended = await metamcp(folder, [], "");
  expect([ended.code, ended.out]).toEqual([0, ""]);
});
