/** What a person sees on a terminal with 80 columns, and the questions they are asked. */
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { metamcp } from "../../support/command.ts";
import { gateway } from "../../support/gateway.ts";
import { noTerminal, PseudoTerminal } from "../../support/pseudo-terminal.ts";
import { fixture, ROOT, type Temp, temp } from "../../support/temp.ts";

const obstacle = noTerminal();
const PROGRAM = join(ROOT, "dist/metamcp.js");

const terminal = (folder: Temp, ...args: string[]): PseudoTerminal =>
  new PseudoTerminal([process.execPath, PROGRAM, ...args], folder.path("."), folder.env);

const wide = "Reads the whole text of a file, in whatever encoding it is, and gives it back line by line.";

/** A server with a tool whose description is longer than a line. */
function writeWordyConfig(folder: Temp): void {
  const inputSchema = {
    type: "object",
    properties: { path: { type: "string", description: `The path: ${wide}` } },
    required: ["path"],
  };
  const tools = folder.write(
    "tools.json",
    JSON.stringify([{ name: "read", description: wide, inputSchema }]),
  );
  folder.writeConfig({
    wordy: fixture("--tools-file", tools),
    broken: { command: "x", env: { TOKEN: `\${METAMCP_TEST_UNSET}` } },
  });
}

test.skipIf(obstacle)(
  "no command breaks a word at the end of a line",
  async () => {
    const folder = temp();
    writeWordyConfig(folder);
    const commands = [
      ["--help"],
      ["call", "--help"],
      ["doctor"],
      ["list"],
      ["tools"],
      ["tools", "wordy"],
      ["search", "read a text"],
      ["describe", "wordy", "read"],
      ["call", "broken", "x"],
    ];
    for (const command of commands) {
      const shown = terminal(folder, ...command);
      await shown.exited;
      const lines = shown.screen.split(/\r?\n/).map((line) => line.slice(line.lastIndexOf("\u001b[K") + 3));
      const long = lines.filter((line) => line.length > 80);
      // A command to copy and a path that is longer than the line stay on one line.
      const broken = long.filter((line) => !/^\s*\$ /.test(line) && /\S\s+\S/.test(line.trim().slice(0, 80)));
      expect([command, broken]).toEqual([command, []]);
    }
  },
  60_000,
);

test.skipIf(obstacle)("a command that waits for servers or a gateway shows that it does", async () => {
  const folder = temp();
  const go = folder.path("go");
  folder.writeConfig({ slow: fixture("--wait-for", go) });
  const tools = terminal(folder, "tools", "--surface", "aggregate");
  await tools.sees("asking your servers for their tools");
  folder.write("go", "");
  expect(await tools.exited).toBe(0);

  const held: (() => void)[] = [];
  const server = createHttpServer((_, response) => void held.push(() => response.writeHead(401).end()));
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const env = { ...folder.env, METAMCP_ADMIN_TOKEN: "x" };
  const command = [process.execPath, PROGRAM, "gateway", "status", "--gateway", url];
  const status = new PseudoTerminal(command, folder.path("."), env);
  await status.sees(`asking ${url}`);
  for (const answer of held) answer();
  expect(await status.exited).toBe(1);
});

test("describe shows the description of each parameter", async () => {
  const folder = temp();
  writeWordyConfig(folder);
  const { out } = await metamcp(folder, ["describe", "wordy:read"]);
  expect(out).toMatch(/^INPUT +TYPE +DEFAULT +DESCRIPTION$/m);
  expect(out).toMatch(/^path +string +required +The path: Reads the whole text/m);
});

test("tools SERVER lists the tools of one server, and says why it cannot", async () => {
  const folder = temp();
  writeWordyConfig(folder);
  const [shown, machine, unknown, broken] = await Promise.all([
    metamcp(folder, ["tools", "wordy"]),
    metamcp(folder, ["tools", "wordy", "--json"]),
    metamcp(folder, ["tools", "word"]),
    metamcp(folder, ["tools", "broken"]),
  ]);
  expect(shown.out).toMatch(/^read +~\d+ +Reads the whole text/m);
  expect(JSON.parse(machine.out)).toMatchObject({
    server: "wordy",
    tools: [{ name: "read", description: wide }],
  });
  expect(unknown).toMatchObject({ code: 1, err: expect.stringContaining("Nearest: wordy") });
  expect(broken).toMatchObject({ code: 1, err: expect.stringContaining("METAMCP_TEST_UNSET is not set") });
});

test.skipIf(obstacle)("call asks the person for the input that a tool requests", async () => {
  const folder = temp();
  folder.writeConfig({ a: fixture() });
  const schema = { type: "object", properties: { age: { type: "integer" } }, required: ["age"] };
  const args = JSON.stringify({ message: "How old?", schema });
  const filled = terminal(folder, "call", "a", "ask", args, "--json");
  await filled.sees("The server asks: How old?");
  filled.type("old\n");
  await filled.sees("not a number");
  filled.type("36\n");
  await filled.sees('Send {"age":36}? [Y/n]');
  filled.type("\n");
  expect(await filled.exited).toBe(0);
  expect(filled.screen).toMatch(/"action": ?"accept"/);

  const page = JSON.stringify({
    method: "elicitation/create",
    params: { mode: "url", message: "Log in", url: "https://id.example/", elicitationId: "1" },
  });
  const asked = terminal(folder, "call", "a", "request", page, "--json");
  await asked.sees("https://id.example/");
  asked.type("n\n");
  expect(await asked.exited).toBe(0);
  expect(asked.screen).toMatch(/"action": ?"decline"/);
});

test("call without a terminal says that the question was not answered", async () => {
  const folder = temp();
  folder.writeConfig({ a: fixture() });
  const { out, err } = await metamcp(folder, ["call", "a", "ask", "--json"]);
  expect(err).toBe("metamcp: there is no terminal to ask on, so this question was not answered: Really?\n");
  expect(out).not.toMatch(/"action"/);
});

test("a port in use is reported with what to do", async () => {
  const folder = temp();
  folder.writeConfig({});
  const other = createServer();
  onTestFinished(() => void other.close());
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  const { port } = other.address() as { port: number };
  const { code, out, err } = await metamcp(folder, ["--transport", "streamable", "--port", String(port)]);
  expect([code, out]).toEqual([1, ""]);
  expect(err).toBe(
    `metamcp: Port ${port} on 127.0.0.1 is already in use. Choose another with --port (0 picks a free one), or stop the program that uses it.\n`,
  );
});

test("the stderr of a server is logged only if the server fails", async () => {
  const folder = temp();
  folder.writeConfig({
    calm: fixture("--stderr", "warning: old", "--farewell", "npm error signal SIGTERM"),
    dead: { command: process.execPath, args: ["-e", "console.error('no token given'); process.exit(3)"] },
  });
  const client = gateway(folder);
  await client.initialize();
  await client.mcpCall("calm", "echo", { message: "x" });
  await client.close();
  expect(client.stderr).toBe("");

  const failing = gateway(folder);
  await failing.initialize();
  await failing.mcpCall("dead", "echo", { message: "x" });
  await failing.close();
  expect(failing.stderr).toMatch(/"level":"warn".*exited with code 3\. Its output: no token given/);
});

test("--help names the variables that have no flag", async () => {
  const { out } = await metamcp(temp(), ["--help"]);
  expect(out).toMatch(
    /^Environment:\n {2}METAMCP_TOKEN +Bearer token that every HTTP request must carry\.$/m,
  );
  expect(out).toMatch(/^ {2}METAMCP_HOME /m);
});

/** Escape sequences, C1 controls and text directions: what a terminal would act on. */
const HOSTILE = "\u001b]0;owned\u0007\u001b[2J\u009b31m\u202e\b\u007f";
/** Whether a terminal would act on a character of the line. The spinner clears its line with ESC [ K. */
const acts = (line: string): boolean =>
  /[^\P{Cc}\t\r]|[\u202a-\u202e\u2066-\u2069]/u.test(line.replaceAll("\u001b[K", ""));

test.skipIf(obstacle)(
  "no command sends control characters of servers and found files to the terminal",
  async () => {
    const folder = temp();
    const inputSchema = { type: "object", properties: { message: { type: "string", description: HOSTILE } } };
    const tools = ["echo", "fail", "is_error"].map((name) => ({
      name,
      title: HOSTILE,
      description: `${HOSTILE} ${name}`,
      inputSchema,
    }));
    const file = folder.write("tools.json", JSON.stringify(tools));
    folder.writeConfig({
      bad: fixture("--tools-file", file),
      [`odd${HOSTILE}`]: { command: `x${HOSTILE}`, args: [HOSTILE] },
      dies: { command: process.execPath, args: ["-e", `console.error(${JSON.stringify(HOSTILE)})`] },
      broken: { command: "x", cwd: 5, [HOSTILE]: 1, tools: { allow: HOSTILE } },
    });
    const message = JSON.stringify({ message: HOSTILE });
    folder.write("chain.json", JSON.stringify([{ tool_id: "bad:echo", args: { message: HOSTILE } }]));
    folder.write(
      "code.js",
      `console.log(${JSON.stringify(HOSTILE)}); return await tools.bad.echo(${message});`,
    );
    folder.write("throws.js", `throw new Error(${JSON.stringify(HOSTILE)});`);
    const commands = [
      ["doctor"],
      ["list"],
      ["tools"],
      ["tools", "bad"],
      ["search", "echo"],
      ["describe", "bad", "echo"],
      ["describe", "bad", "echo", "--json"],
      ["call", "bad", "echo", message],
      ["call", "bad", "echo", message, "--json"],
      ["call", "bad", "is_error", message],
      ["call", "bad", "fail", message],
      ["call", "dies", "x"],
      ["call", HOSTILE, HOSTILE],
      ["chain", "chain.json"],
      ["exec", "code.js"],
      ["exec", "throws.js"],
      ["approve", "bad", "--dry-run"],
      ["remove", HOSTILE],
    ];
    for (const command of commands) {
      const shown = terminal(folder, ...command);
      await shown.exited;
      const acting = shown.screen.split("\n").filter((line) => acts(line));
      expect([command[0], acting]).toEqual([command[0], []]);
    }
    const piped = await metamcp(folder, ["call", "bad", "echo", message]);
    expect(piped.out).toContain(HOSTILE);
  },
  120_000,
);
