/** The command line: help, output, exit codes, and error texts with their remedies. */
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { metamcp } from "../../support/command.ts";
import { failureOf } from "../../support/meta.ts";
import { fixture, ROOT, temp } from "../../support/temp.ts";

const json = ({ out }: { readonly out: string }): Record<string, unknown> =>
  JSON.parse(out) as Record<string, unknown>;

test("an unreadable or wrong TLS file is named", async () => {
  const folder = temp();
  writeFileSync(folder.path("cert.pem"), "no certificate");
  const serve = (cert: string, key: string) =>
    metamcp(folder, [
      "--transport",
      "streamable",
      "--port",
      "0",
      "--tls",
      "--tls-cert",
      cert,
      "--tls-key",
      key,
    ]);
  const ends = await Promise.all([
    serve("none.pem", "cert.pem"),
    serve(folder.path("cert.pem"), "none.pem"),
    serve(folder.path("cert.pem"), folder.path("cert.pem")),
  ]);
  for (const [at, told] of [
    /TLS certificate cannot be read: .*none\.pem/,
    /TLS key cannot be read/,
    /cert\.pem and .*cert\.pem are not a certificate and its key in PEM format/,
  ].entries())
    expect(ends[at]).toMatchObject({ code: 1, err: expect.stringMatching(told) });
});

test("--help of init, import and add names the config file they write to", async () => {
  for (const command of ["init", "import", "add"]) {
    const { out } = await metamcp(temp(), [command, "--help"]);
    expect(out).toMatch(/--config <file> +Config file\. Default: ~\/\.metamcp\/mcp\.json\.\n/);
  }
});

test("--help and --version print on stdout", async () => {
  const folder = temp();
  const [help, short, word, version, own] = await Promise.all([
    metamcp(folder, ["--help"]),
    metamcp(folder, ["-h", "--port", "1"]),
    metamcp(folder, ["help", "call"]),
    metamcp(folder, ["--version"]),
    metamcp(folder, ["call", "--help"]),
  ]);
  for (const { code, err } of [help, short, word, version, own]) expect([code, err]).toEqual([0, ""]);
  for (const command of ["list", "tools", "search", "call", "doctor"])
    expect(help.out).toContain(`metamcp ${command}`);
  for (const flag of ["--config <file>", "--max-connections <number>", "--log-level"])
    expect(help.out).toContain(flag);
  expect(short.out).toBe(help.out);
  expect(word.out).toBe(own.out);
  expect(own.out).toMatch(/^Run one tool.*\n\nUsage: metamcp call SERVER TOOL/);
  const { version: expected } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
    version: string;
  };
  expect(version.out).toBe(`${expected}\n`);
});

test("wrong usage exits with 2 and explains the correct usage", async () => {
  const folder = temp();
  folder.writeConfig({ a: fixture() });
  const invalid: [args: string[], says: RegExp, env?: Record<string, string>][] = [
    [["--prot", "1"], /--prot is not a known flag\. Did you mean "--port"\?/],
    [["--port", "http"], /--port is "http", but must be a whole number from 0 to 65535/],
    [["--max-connections", "0"], /--max-connections is "0"/],
    [["--idle-timeout", "5 parsecs"], /--idle-timeout .* a time/],
    [["--transport", "pigeon"], /one of stdio, streamable, sse/],
    [["--config"], /--config needs a value/],
    [["--tls"], /--tls needs --tls-cert/],
    [[], /METAMCP_COOLDOWN is "soon"/, { METAMCP_COOLDOWN: "soon" }],
    [["lost"], /"lost" is not a command\. Did you mean "list"\?/],
    [["--json", "list"], /--json is not a flag of "metamcp"|Write the command first/],
    [["--config", "x.json", "list"], /Write the command first: metamcp list/],
    [["list", "more"], /Usage: metamcp list/],
    [["list", "--port", "1"], /--port is not a flag of "metamcp list"/],
    [["add", "--registry-url", "https://x"], /--registry-url is not a flag of "metamcp add"/],
    [["search"], /Usage: metamcp search/],
    [["search", " "], /Describe the task in words/],
    [["search", "x", "--limit", "0"], /--limit/],
    [["call", "a"], /Usage: metamcp call SERVER TOOL/],
    [["call", "a", "echo", "hello"], /"hello" is not an argument\. .* name=value/],
    [["call", "a", "echo", '{"message":'], /not valid JSON\. Check quotes/],
  ];
  const ended = await Promise.all(
    invalid.map(([args, , env]) => metamcp({ ...folder, env: { ...folder.env, ...env } }, args)),
  );
  for (const [at, [args, says]] of invalid.entries()) {
    expect(ended[at], args.join(" ")).toMatchObject({ code: 2, out: "", err: expect.stringMatching(says) });
    expect(ended[at]?.err).toMatch(/^metamcp: .*\n$/);
  }
});

test("an unreadable config exits with 1 and names the position", async () => {
  const folder = temp();
  const path = folder.write(
    ".mcp.json",
    '{\n  // comments are fine\n  "mcpServers": { "a": { "command": nope } }\n}',
  );
  const other = folder.write("list.json", '{ "mcpServers": [] }');
  const ended = await Promise.all([
    metamcp(folder, []),
    metamcp(folder, ["list"]),
    metamcp(folder, ["doctor", "--json"]),
    metamcp(folder, ["--config", other]),
    metamcp(folder, ["--config", folder.path(".")]),
  ]);
  for (const { code, out } of ended) expect([code, out]).toEqual([1, ""]);
  for (const { err } of ended.slice(0, 3)) expect(err).toMatch(`${path}:3:37: this is not a JSON value`);
  expect(ended[3]?.err).toMatch(`${other}:1:17: mcpServers is a list, not an object`);
  expect(ended[4]?.err).toMatch(/it is a folder/);
});

test("list shows the configured servers without starting them, and unknown tool counts as ?", async () => {
  const folder = temp();
  const journal = folder.journal();
  const empty = await metamcp(folder, ["list"]);
  expect(empty).toMatchObject({ code: 0, out: expect.stringMatching(/no config file at .* yet/) });
  folder.writeConfig({
    local: { ...fixture("--journal", journal.file), env: { PORT: "80" } },
    remote: { url: "https://example.com/mcp" },
    wrong: { command: 1 },
    off: { command: "x", disabled: true },
  });
  const [shown, parsed] = await Promise.all([metamcp(folder, ["list"]), metamcp(folder, ["list", "--json"])]);
  const lines = shown.out.split("\n");
  expect(lines[0]).toMatch(/^SERVER +KIND +TOOLS +RUNS$/);
  expect(lines[1]).toMatch(/^local +stdio +\? +.*child\.mjs --journal/);
  expect(lines[2]).toMatch(/^remote +http +\? +https:\/\/example\.com\/mcp$/);
  expect(lines[3]).toMatch(/^wrong +broken +command is a number/);
  expect(lines[4]).toMatch(/^off +disabled$/);
  expect(json(parsed)).toMatchObject({
    config: folder.config,
    exists: true,
    servers: [{ name: "local", kind: "stdio" }, { name: "remote" }, { name: "wrong" }, { name: "off" }],
  });
  expect(journal.pids()).toEqual([]);
});

test("search, call and tools print text for people and JSON for programs", async () => {
  const folder = temp();
  folder.writeConfig({ a: fixture(), down: fixture("--exit-at-once", "3") });
  const found = await metamcp(folder, ["search", "add", "two", "numbers"]);
  expect(found.code).toBe(0);
  expect(found.out).toMatch(/^SERVER +TOOL +CONFIDENCE +WHAT IT DOES\na +add +\d+% +Adds two numbers\./);
  expect(found.out).toMatch(/! down could not be reached: .*exited with code 3/);

  const run = (...args: string[]) => metamcp(folder, ["call", "a", ...args]);
  const [sum, asJson, text, whole, isError, failed, wrong, noTool, noServer, tools, toolsJson, hits] =
    await Promise.all([
      run("add", "a=20", "b=22"),
      run("add", '{"a":20,\n"b":22}', "--json"),
      run("echo", "message=12"),
      run("args", "n=12345678901234567890", "--json"),
      run("is_error", "message=no luck"),
      run("fail", "--json"),
      run("add", "a=1"),
      run("ad"),
      metamcp(folder, ["call", "b", "add"]),
      metamcp(folder, ["tools"]),
      metamcp(folder, ["tools", "--json"]),
      metamcp(folder, ["search", "add", "--limit", "1", "--json"]),
    ]);
  expect(sum).toEqual({ code: 0, out: "42\n", err: "" });
  expect(json(asJson)).toEqual({ content: [{ type: "text", text: "42" }], structuredContent: { sum: 42 } });
  expect(text.out).toBe("12\n");
  expect(whole.out).toContain('"n":12345678901234567890');
  expect(isError).toEqual({ code: 1, out: "", err: "no luck\n" });
  expect(failed).toMatchObject({ code: 1, err: "" });
  expect(failureOf(json(failed))).toMatchObject({ code: "execution_failed" });
  expect(wrong).toMatchObject({ code: 1, out: "", err: expect.stringMatching(/^validation_input: .*'b'/) });
  expect(noTool).toMatchObject({ code: 1, err: expect.stringMatching(/^tool_not_found: .*Nearest: add/) });
  expect(noServer).toMatchObject({ code: 1, err: expect.stringMatching(/^server_not_found/) });
  expect(tools.out).toMatch(/^TOOL +BYTES +TOKENS/);
  expect(tools.out).toMatch(/^instructions +\d+ /m);
  expect(tools.out).toMatch(/A model gets \d+ bytes, about \d+ tokens/);
  expect(json(toolsJson)).toMatchObject({ surface: "meta", total: { bytes: expect.any(Number) } });
  expect(json(hits)).toMatchObject({ tools: [{ server: "a", tool: "add" }] });
});

test("call does not run a tool under tools.ask without a terminal", async () => {
  const folder = temp();
  folder.writeConfig({ a: { ...fixture(), tools: { ask: ["*"] } } });
  const { code, err } = await metamcp(folder, ["call", "a", "echo", "message=hi"]);
  expect([code, err]).toEqual([1, expect.stringMatching(/^forbidden: .*consent/m)]);
});

test("a log file that cannot be written is reported, and the log goes to stderr", async () => {
  const folder = temp();
  folder.writeConfig({ a: fixture() });
  const file = join(folder.write("file", ""), "log");
  const flags = ["--log-file", file, "--log-level", "debug"];
  const { code, out, err } = await metamcp(folder, ["call", "a", "echo", "message=hello", ...flags]);
  expect([code, out]).toEqual([0, "hello\n"]);
  expect(err).toMatch(
    /^\{.*"level":"error","message":"cannot write the log file, so the log goes to stderr: ENOTDIR.*\n.*"level":"debug"/,
  );
});

test("a reader that closes the pipe early causes no error output", async () => {
  const folder = temp();
  folder.writeConfig({ a: fixture("--bare", "--tools", "500") });
  const command = `"${process.execPath}" "${join(ROOT, "dist/metamcp.js")}" call a tool_0 message=${"x".repeat(100_000)}`;
  const child = spawn("sh", ["-c", `${command} | head -c 1`], {
    cwd: folder.path("."),
    env: folder.env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let err = "";
  child.stderr.on("data", (chunk: Buffer) => (err += chunk));
  await new Promise((resolve) => child.once("close", resolve));
  expect(err).toBe("");
});
