// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables are part of the form
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { revealed } from "../kernel/secret.ts";
import type { Overrides } from "./check.ts";
import { ConfigError } from "./config-error.ts";
import { Findings } from "./field.ts";
import { loadConfig, parseConfig } from "./load.ts";
import { readPlain } from "./plain-fields.ts";
import type { Config, ServerSpec } from "./spec.ts";

const PATH = "/project/.mcp.json";
const ENV = {
  HOME: "/home/me",
  TOKEN: "s3cret-value",
  HOST: "example.com",
  LINE: "s3cret-value\n",
  EMPTY: "",
};

async function parse(text: string, overrides: Overrides = {}): Promise<Config> {
  return await parseConfig(PATH, text, { env: ENV, overrides });
}

async function one(
  entry: unknown,
): Promise<{ spec?: ServerSpec; reason?: string; warnings: readonly string[] }> {
  const config = await parse(JSON.stringify({ mcpServers: { it: entry } }));
  const [spec, reason] = [config.servers.get("it"), config.broken.get("it")];
  return {
    ...(spec && { spec: revealedSpec(spec) }),
    ...(reason !== undefined && { reason }),
    warnings: config.warnings,
  };
}

/** A copy with the secrets as plain text, for comparison. */
function revealedSpec(spec: ServerSpec): ServerSpec {
  const { clientSecret, ...oauth } = (spec.kind !== "stdio" && spec.oauth) || {};
  const plain =
    spec.kind === "stdio"
      ? { env: revealed(spec.env) }
      : {
          headers: revealed(spec.headers),
          oauth: spec.oauth && { ...oauth, ...(clientSecret && { clientSecret: clientSecret.reveal() }) },
        };
  return { ...spec, ...plain } as unknown as ServerSpec;
}

// What fields have that the tests here do not name.
const plain = <const O extends "stdio" | "remote" | undefined>(only: O) =>
  readPlain({}, only, new Findings());

const COMMON = {
  ...plain(undefined),
  name: "it",
  lifecycle: { mode: "default" },
  criticality: "optional",
  timeoutMs: 60_000,
  deadlineMs: 3_600_000,
  connectTimeoutMs: 30_000,
  tools: { allow: undefined, deny: [], ask: [] },
  isolation: "shared",
  placement: "replica",
  retry: "safe",
  prefix: "server",
  examples: {},
};
const STDIO = {
  ...COMMON,
  ...plain("stdio"),
  kind: "stdio",
  command: "node",
  args: [],
  env: {},
  inheritEnv: [],
  cwd: "/project",
  instances: 1,
};
const REMOTE = {
  ...COMMON,
  ...plain("remote"),
  kind: "http",
  url: "https://example.com/mcp",
  headers: {},
  oauth: undefined,
};
const node = (more: object): object => ({ command: "node", ...more });
const remote = (more: object): object => ({ url: "https://example.com/mcp", ...more });

describe("a valid server entry", () => {
  test.each<[string, unknown, object]>([
    ["only a command", node({}), STDIO],
    ["type stdio", node({ type: "stdio" }), STDIO],
    [
      "all keys of stdio",
      node({ args: ["a", ""], env: { A: "1" }, cwd: "sub", inheritEnv: ["X"] }),
      { ...STDIO, args: ["a", ""], env: { A: "1" }, cwd: "/project/sub", inheritEnv: ["X"] },
    ],
    ["absolute cwd", node({ cwd: "/srv" }), { ...STDIO, cwd: "/srv" }],
    ["a cwd with a tilde", node({ cwd: "~/x" }), { ...STDIO, cwd: "/home/me/x" }],
    ["a command with a tilde", { command: "~/bin/x" }, { ...STDIO, command: "/home/me/bin/x" }],
    ["inheritEnv true", node({ inheritEnv: true }), { ...STDIO, inheritEnv: true }],
    ["inheritEnv false", node({ inheritEnv: false }), STDIO],
    [
      "variables",
      {
        command: "${CMD:-node}",
        args: ["--host=${HOST}", "$HOST"],
        env: { T: "Bearer ${TOKEN}" },
        cwd: "${DIR:-sub}",
      },
      {
        ...STDIO,
        args: ["--host=example.com", "$HOST"],
        env: { T: "Bearer s3cret-value" },
        cwd: "/project/sub",
      },
    ],
    [
      "MetaMCP with another config",
      node({ args: ["metamcp.js", "--config", "other.json"] }),
      { ...STDIO, args: ["metamcp.js", "--config", "other.json"] },
    ],
    [
      "a folder named metamcp",
      node({ args: ["fs.js", "/src/metamcp"] }),
      { ...STDIO, args: ["fs.js", "/src/metamcp"] },
    ],
    ["only a url", remote({}), REMOTE],
    ["type http", remote({ type: "http" }), REMOTE],
    ["transport streamable-http", remote({ transport: "streamable-http" }), REMOTE],
    ["transportType streamable", remote({ transportType: "streamable" }), REMOTE],
    ["type streamableHttp", remote({ type: "streamableHttp" }), REMOTE],
    ["synonyms with equal values", remote({ type: "http", transport: "streamable" }), REMOTE],
    ["type sse", remote({ type: "sse" }), { ...REMOTE, kind: "sse" }],
    [
      "url and headers with variables",
      { url: "https://${HOST}/mcp", headers: { Authorization: "Bearer ${TOKEN}" } },
      { ...REMOTE, headers: { Authorization: "Bearer s3cret-value" } },
    ],
    [
      "a token that ends in a line break",
      remote({ headers: { A: "Bearer ${LINE}" } }),
      { ...REMOTE, headers: { A: "Bearer s3cret-value" } },
    ],
    [
      "the last character that a header can contain",
      remote({ headers: { A: "ÿ\tx" } }),
      { ...REMOTE, headers: { A: "ÿ\tx" } },
    ],
    ["oauth true", remote({ oauth: true }), { ...REMOTE, oauth: {} }],
    ["oauth false", remote({ oauth: false }), REMOTE],
    [
      "oauth object and headers together",
      remote({ oauth: { clientId: "c", clientSecret: "${TOKEN}", scopes: ["a"] }, headers: { X: "1" } }),
      {
        ...REMOTE,
        headers: { X: "1" },
        oauth: { clientId: "c", clientSecret: "s3cret-value", scopes: ["a"] },
      },
    ],
    [
      "lifecycle as a word",
      node({ lifecycle: "keep-alive" }),
      { ...STDIO, lifecycle: { mode: "keep-alive" } },
    ],
    ["lifecycle ephemeral", node({ lifecycle: "ephemeral" }), { ...STDIO, lifecycle: { mode: "ephemeral" } }],
    [
      "lifecycle as an object",
      node({ lifecycle: { mode: "keep-alive", idleTimeoutMs: "10m" } }),
      { ...STDIO, lifecycle: { mode: "keep-alive", idleTimeoutMs: 600_000 } },
    ],
    [
      "lifecycle with only a time",
      node({ lifecycle: { idleTimeoutMs: 5 } }),
      { ...STDIO, lifecycle: { mode: "default", idleTimeoutMs: 5 } },
    ],
    [
      "times",
      node({ timeoutMs: "30s", deadlineMs: 5, connectTimeoutMs: "1500" }),
      { ...STDIO, timeoutMs: 30_000, deadlineMs: 5, connectTimeoutMs: 1_500 },
    ],
    ["choices", node({ criticality: "vital" }), { ...STDIO, criticality: "vital", retry: "crash" }],
    [
      "a vital server that says how it is retried",
      node({ criticality: "vital", retry: "safe" }),
      { ...STDIO, criticality: "vital", retry: "safe" },
    ],
    [
      "other choices",
      node({ criticality: "vital", isolation: "session", retry: "never", prefix: "none" }),
      { ...STDIO, criticality: "vital", isolation: "session", retry: "never", prefix: "none" },
    ],
    [
      "tool rules",
      node({ tools: { allow: ["a*"], deny: ["b"], ask: ["c"] } }),
      { ...STDIO, tools: { allow: ["a*"], deny: ["b"], ask: ["c"] } },
    ],
    ["a list of tools", node({ tools: ["a"] }), { ...STDIO, tools: { allow: ["a"], deny: [], ask: [] } }],
    ["no tools at all", node({ tools: [] }), { ...STDIO, tools: { allow: [], deny: [], ask: [] } }],
    [
      "an empty allow list",
      node({ tools: { allow: [] } }),
      { ...STDIO, tools: { allow: [], deny: [], ask: [] } },
    ],
    [
      "examples",
      node({ examples: { echo: [{ text: "hi" }] } }),
      { ...STDIO, examples: { echo: [{ text: "hi" }] } },
    ],
    ["disabled false, enabled true", node({ disabled: false, enabled: true }), STDIO],
  ])("is accepted: %s", async (_what, entry, spec) => {
    expect(await one(entry)).toEqual({ spec, warnings: [] });
  });
});

describe("an invalid server entry", () => {
  test.each<[string, unknown, RegExp]>([
    ["null", null, /^it is null: write an object/],
    ["a string", "npx x", /^it is a string/],
    ["a list", [], /^it is a list/],
    ["an empty object", {}, /needs a command .*, a url .* or openapi/],
    ["serverUrl", { serverUrl: "https://x" }, /rename "serverUrl" to "url"/],
    ["command and url", node({ url: "https://x" }), /both command and url: keep one/],
    ["command is a list", { command: ["npx", "x"] }, /command is a list: .* args/],
    ["command is a number", { command: 5 }, /command is a number: put it in double quotes/],
    ["command is empty", { command: " " }, /command is empty/],
    ["command is null", { command: null }, /command is null/],
    ["args is a string", node({ args: "-y x" }), /args is a string: write a list of strings, "args": \[/],
    ["a number in args", node({ args: ["--port", 80] }), /args\[1\] is a number: put it in double quotes/],
    ["null in args", node({ args: [null] }), /args\[0\] is null: write a string/],
    ["env is a list", node({ env: ["A=1"] }), /env is a list: write an object/],
    ["a number in env", node({ env: { PORT: 8080 } }), /env\.PORT is a number: put it in double quotes/],
    [
      "a boolean in env",
      node({ env: { DEBUG: true } }),
      /env\.DEBUG is true or false: put it in double quotes/,
    ],
    ["null in env", node({ env: { A: null } }), /env\.A is null/],
    ["a bad name in env", node({ env: { "A=B": "" } }), /invalid variable name/],
    ["NUL", node({ args: ["a\0b"] }), /args\[0\] contains a NUL/],
    ["cwd is a number", node({ cwd: 1 }), /cwd is a number/],
    ["inheritEnv is a string", node({ inheritEnv: "PATH" }), /inheritEnv is a string: write true or a list/],
    ["url and openapi", remote({ openapi: "https://x/o.json" }), /both url and openapi: keep one/],
    [
      "openapi with a type",
      { openapi: "https://x/o.json", type: "http" },
      /declared as http but has openapi/,
    ],
    [
      "openapi of another scheme",
      { openapi: "ftp://x/o.json" },
      /neither a web address nor the path of a file/,
    ],
    ["openapi in a file without baseUrl", { openapi: "o.json" }, /openapi is a file, .* "baseUrl"/],
    ["baseUrl is a path", { openapi: "https://x/o.json", baseUrl: "/v1" }, /baseUrl is not a web address/],
    [
      "operations is a list",
      { openapi: "https://x/o.json", operations: ["a"] },
      /operations is a list: write/,
    ],
    ["misspelt operations", { openapi: "https://x/o.json", operation: {} }, /write "operations"/],
    ["openapi with a password", { openapi: "https://u:p@x/o.json" }, /openapi contains a user name/],
    [
      "unknown type",
      remote({ type: "websocket" }),
      /type is "websocket": write "stdio", "http", "sse" or "openapi"/,
    ],
    ["misspelt type", remote({ transport: "streamble" }), /Did you mean "streamable"/],
    ["type is a number", node({ type: 1 }), /type is a number/],
    [
      "synonyms that differ",
      remote({ type: "sse", transport: "http" }),
      /type, transport, transportType .* differ/,
    ],
    ["type http with a command", node({ type: "http" }), /declared as http but has a command/],
    ["type stdio with a url", remote({ type: "stdio" }), /declared as stdio but has a url/],
    ["a url without a scheme", { url: "example.com/mcp" }, /url is not a web address/],
    ["a url with another scheme", { url: "ws://example.com" }, /url is not a web address/],
    ["a password in the url", { url: "https://me:pw@example.com" }, /send them as a header/],
    ["a user name in the url", { url: "https://me@example.com" }, /send them as a header/],
    ["a number in headers", remote({ headers: { A: 1 } }), /headers\.A is a number/],
    ["a bad header name", remote({ headers: { "A B": "x" } }), /invalid header name/],
    ["a line break in a header", remote({ headers: { A: "x\ny" } }), /headers\.A contains a character/],
    ["oauth is a string", remote({ oauth: "yes" }), /oauth is a string: write true or/],
    ["oauth.clientId is a number", remote({ oauth: { clientId: 1 } }), /oauth\.clientId is a number/],
    [
      "a missing variable",
      node({ env: { A: "x${NOPE}" } }),
      /the variable NOPE is not set \(used in env\.A\)/,
    ],
    [
      "several missing variables",
      node({ args: ["${NOR}"], env: { A: "${NOPE}" } }),
      /^variables are missing: NOR is not set \(used in args\[0\]\), NOPE is not set \(used in env\.A\): set them in the environment of MetaMCP .* or write a default: \$\{NOR:-value\}$/,
    ],
    [
      "a missing variable in the url",
      { url: "https://${NOPE}/mcp" },
      /^the variable NOPE is not set \(used in url\)/,
    ],
    ["MetaMCP itself", { command: "metamcp" }, /start MetaMCP itself with this file/],
    [
      "MetaMCP itself through npx",
      { command: "npx", args: ["-y", "metamcp@latest", "--surface", "auto"] },
      /MetaMCP itself/,
    ],
    [
      "MetaMCP itself through node",
      { command: "node", args: ["/opt/metamcp/dist/metamcp.js"] },
      /MetaMCP itself/,
    ],
    ["MetaMCP itself with this file", { command: "metamcp", args: ["--config=.mcp.json"] }, /MetaMCP itself/],
    ["several faults", node({ args: 1, env: 2 }), /args is a number.*; env is a number/],
    [
      "a misspelt value of isolation",
      node({ isolation: "sesion" }),
      /isolation is "sesion".*Did you mean "session"/,
    ],
    ["an unknown value of retry", node({ retry: "no" }), /retry is "no": write "safe" or "crash" or "never"/],
    ["tools is null", node({ tools: null }), /tools is null: write/],
    [
      "a misspelt tool rule",
      node({ tools: { denny: ["delete_*"] } }),
      /"tools\.denny" is unknown: write "deny"/,
    ],
    [
      "an unknown tool rule",
      node({ tools: { zzz: [] } }),
      /"tools\.zzz" is unknown: write "allow", "deny", "ask"/,
    ],
    [
      "a misspelt key tools",
      node({ tool: { deny: ["*"] } }),
      /"tool" is unknown: write "tools", or remove it/,
    ],
    [
      "a tool rule outside of tools",
      node({ deny: ["*"] }),
      /"deny" is unknown: write "tools": \{ "deny": \[…\] \}, or remove it/,
    ],
    ["a key tools.deny", node({ "tools.deny": ["*"] }), /write "tools": \{ "deny": \[…\] \}/],
    ["a key toolsAllow", node({ toolsAllow: [] }), /write "tools": \{ "allow": \[…\] \}/],
    ["a key oauth.scopes", remote({ "oauth.scopes": [] }), /"oauth\.scopes" is unknown: write "oauth"/],
    ["a key Tools", node({ Tools: { deny: ["*"] } }), /"Tools" is unknown: write "tools"/],
    ["a misspelt key isolation", node({ isolaton: "session" }), /"isolaton" is unknown: write "isolation"/],
    ["a misspelt key inheritEnv", node({ inherit_env: [] }), /"inherit_env" is unknown: write "inheritEnv"/],
    ["a misspelt key oauth", remote({ oauht: true }), /"oauht" is unknown: write "oauth"/],
    [
      "an unknown key in oauth",
      remote({ oauth: { clientID: "c" } }),
      /"oauth\.clientID" is unknown: write "clientId"/,
    ],
    ["middleware that is not a list", node({ middleware: "redact" }), /middleware is a string: write a list/],
    ["middleware as a list of names", node({ middleware: ["redact"] }), /middleware\[0\] has no layer name/],
    ["middleware without a layer check", node({ middleware: [{ use: "redact" }] }), /cannot be checked here/],
    ["a misspelt key middleware", node({ midleware: [] }), /"midleware" is unknown: write "middleware"/],
    ["tools is a string", node({ tools: "*" }), /tools is a string/],
    [
      "tools.deny is a string",
      node({ tools: { deny: "x" } }),
      /tools\.deny is a string: write a list of strings, "tools": \{ "deny": \["…", "…"\] \}/,
    ],
    ["disabled is a string", node({ disabled: "true" }), /disabled is a string: write true or false/],
  ])("is refused with a reason: %s", async (_what, entry, reason) => {
    const result = await one(entry);
    expect(result.spec).toBeUndefined();
    expect(result.reason).toMatch(reason);
  });

  test("with command and url gives no additional warning", async () => {
    expect((await one(node({ url: "https://x" }))).warnings).toEqual([]);
  });

  test.each([
    ["metamcp", /reserved/],
    ["", /name is empty/],
    [" ", /name is empty/],
    ["a\nb", /control character/],
  ])("is refused for its name: %j", async (name, reason) => {
    const config = await parse(JSON.stringify({ mcpServers: { [name]: node({}) } }));
    expect(config.broken.get(name)).toMatch(reason);
    expect(config.servers.size).toBe(0);
  });
});

describe("a warning", () => {
  test.each<[string, object, RegExp, object]>([
    ["an unknown key", { foo: 1 }, /^it: the key "foo" is unknown and ignored\.$/, {}],
    ["a misspelt key", { arg: [] }, /"arg" is unknown and ignored\. Did you mean "args"/, {}],
    ["a synonym of a key", { environment: {} }, /Did you mean "env"/, {}],
    [
      "headers together with a command",
      { headers: {} },
      /headers is ignored: it cannot be used together with command/,
      {},
    ],
    [
      "an unknown lifecycle",
      { lifecycle: "forever" },
      /lifecycle is "forever": write "default" or "keep-alive"/,
      {},
    ],
    ["a number as lifecycle", { lifecycle: 5 }, /lifecycle is a number/, {}],
    ["an unknown criticality", { criticality: "vitl" }, /Did you mean "vital"/, {}],
    ["a negative time", { timeoutMs: -1 }, /timeoutMs is ignored/, {}],
    ["a time of 0", { timeoutMs: 0 }, /timeoutMs is ignored/, {}],
    ["a fraction", { deadlineMs: 1.5 }, /deadlineMs is ignored/, {}],
    ["a word as time", { connectTimeoutMs: "soon" }, /connectTimeoutMs is ignored/, {}],
    ["a time that is too long for a timer", { deadlineMs: 1e12 }, /deadlineMs is ignored/, {}],
    ["instances of 0", { instances: 0 }, /instances is ignored: write a whole number/, {}],
    ["too many instances", { instances: 40 }, /instances is 40: at most 16 are used/, { instances: 16 }],
    ["examples that are not a list", { examples: { echo: {} } }, /examples\.echo is ignored/, {}],
    [
      "a variable in the syntax of other clients",
      { args: ["${env:X}"] },
      /args\[0\] contains \$\{env:X\}.*\$\{NAME\}/,
      { args: ["${env:X}"] },
    ],
  ])("is given, and the server is used: %s", async (_what, more, warning, changed) => {
    const { spec, warnings } = await one(node(more));
    expect(spec).toEqual({ ...STDIO, ...changed });
    expect(warnings).toEqual([expect.stringMatching(warning)]);
  });

  test("for a key of other clients is given once for all servers", async () => {
    const entry = node({ autoApprove: [], disabledTools: ["x"], description: "d" });
    const { warnings } = await parse(JSON.stringify({ mcpServers: { a: entry, b: entry, c: entry } }));
    expect(warnings).toHaveLength(3);
    expect(warnings[0]).toBe('the key "autoApprove" of other clients is ignored (a, b, c)');
    expect(warnings[1]).toContain('use "tools": { "deny": […] } instead');
  });

  test.each<[string, object, RegExp]>([
    [
      "an unknown key at the top",
      { mcpServers: {}, pol: {} },
      /"pol" is unknown and ignored\. Did you mean "pool"/,
    ],
    ["no mcpServers", {}, /^the config file has no "mcpServers"/],
    ["servers instead of mcpServers", { servers: {} }, /Rename "servers" to "mcpServers"/],
    ["pool is a number", { mcpServers: {}, pool: 5 }, /pool is a number and ignored/],
    ["poolSize 0", { mcpServers: {}, pool: { poolSize: 0 } }, /pool\.poolSize is ignored: .* at least 1/],
    ["poolSize is a word", { mcpServers: {}, pool: { poolSize: "many" } }, /pool\.poolSize is ignored/],
    [
      "a fractional resPoolSize",
      { mcpServers: {}, pool: { resPoolSize: 0.5 } },
      /pool\.resPoolSize is ignored/,
    ],
    ["a negative cooldownMs", { mcpServers: {}, pool: { cooldownMs: -1 } }, /pool\.cooldownMs is ignored/],
    ["an unknown pool key", { mcpServers: {}, pool: { poolsize: 5 } }, /Did you mean "poolSize"/],
    ["an invalid maxResultBytes", { mcpServers: {}, maxResultBytes: "big" }, /maxResultBytes is ignored/],
    ["a negative autoMaxBytes", { mcpServers: {}, autoMaxBytes: -1 }, /autoMaxBytes is ignored/],
    [
      "an invalid fromUsage",
      { mcpServers: {}, examples: { fromUsage: 1 } },
      /examples\.fromUsage is ignored/,
    ],
    [
      "an embedder url that is a number",
      { mcpServers: {}, embedder: { url: 1 } },
      /embedder\.url is ignored: write a string/,
    ],
    [
      "an embedder without a model",
      { mcpServers: {}, embedder: { url: "https://x" } },
      /embedder is ignored: it needs/,
    ],
  ])("is given for the file: %s", async (_what, file, warning) => {
    const config = await parse(JSON.stringify(file));
    expect(config.warnings).toEqual([expect.stringMatching(warning)]);
    expect(config.pool.poolSize).toBe(20);
  });
});

test("an invalid server does not affect the others, and a disabled one is not checked", async () => {
  const config = await parse(
    JSON.stringify({
      mcpServers: {
        bad: null,
        good: node({}),
        off: { disabled: true, args: 5 },
        away: node({ enabled: false }),
      },
    }),
  );
  expect([...config.servers.keys()]).toEqual(["good"]);
  expect([...config.broken.keys()]).toEqual(["bad"]);
  expect([...config.disabled]).toEqual(["off", "away"]);
  expect(config.warnings).toEqual([]);
});

test("servers named __proto__ and constructor are loaded", async () => {
  for (const comma of ["", ","]) {
    const text = `{"mcpServers": {"__proto__": {"command": "a"}, "constructor": {"command": "b"}${comma}}}`;
    const config = await parse(text);
    expect([...config.servers.keys()]).toEqual(["__proto__", "constructor"]);
  }
});

test("all top-level keys are read, and overrides win over the file even if they equal a default", async () => {
  const file = JSON.stringify({
    mcpServers: {},
    pool: {
      poolSize: 3,
      resPoolSize: 2,
      minPoolSize: 1,
      resPoolTimeout: "1s",
      idleTimeoutMs: 10,
      failureThreshold: 2,
      cooldownMs: 7,
    },
    maxResultBytes: 5_000,
    autoMaxBytes: 6_000,
    examples: { fromUsage: true },
    embedder: { url: "https://e.example/v1", model: "m", keyEnv: "KEY" },
  });
  const plain = await parse(file);
  expect(plain.pool).toEqual({
    poolSize: 3,
    resPoolSize: 2,
    minPoolSize: 1,
    resPoolTimeout: 1_000,
    idleTimeoutMs: 10,
    failureThreshold: 2,
    cooldownMs: 7,
  });
  expect(plain).toMatchObject({
    maxResultBytes: 5_000,
    autoMaxBytes: 6_000,
    examplesFromUsage: true,
    warnings: [],
  });
  expect(plain.embedder).toEqual({ url: "https://e.example/v1", model: "m", keyEnv: "KEY" });

  const overridden = await parse(file, {
    poolSize: 20,
    maxResultBytes: 9,
    autoMaxBytes: 8,
    examplesFromUsage: false,
    embedder: { model: "n" },
  });
  expect(overridden.pool).toEqual({ ...plain.pool, poolSize: 20 });
  expect(overridden).toMatchObject({ maxResultBytes: 9, autoMaxBytes: 8, examplesFromUsage: false });
  expect(overridden.embedder).toEqual({ url: "https://e.example/v1", model: "n", keyEnv: "KEY" });
});

test("a loaded spec is deeply frozen", async () => {
  const entry = node({
    args: ["a"],
    env: { A: "1" },
    tools: { deny: ["x"] },
    examples: { t: [{ deep: {} }] },
  });
  const spec = (await parse(JSON.stringify({ mcpServers: { it: entry } }))).servers.get("it");
  expect(spec).toBeDefined();
  const open = (value: unknown): boolean =>
    typeof value === "object" &&
    value !== null &&
    (!Object.isFrozen(value) || Object.values(value).some(open));
  expect(open(spec)).toBe(false);
});

test("minPoolSize stays below poolSize", async () => {
  const config = await parse('{"mcpServers": {}, "pool": {"minPoolSize": 20}}');
  expect(config.pool.minPoolSize).toBe(19);
  expect(config.warnings).toEqual([expect.stringContaining("must be below poolSize")]);
});

test("comments, trailing commas and a byte order mark are read", async () => {
  const config = await parse(
    '\uFEFF// mine\n{"mcpServers": {/* one */ "a": {"command": "x", "args": ["//no", "1",],},},}',
  );
  expect(config.servers.get("a")).toMatchObject({ command: "x", args: ["//no", "1"] });
  expect(config.warnings).toEqual([]);
});

describe("an unusable file gives an error with its position", () => {
  test.each([
    ["", 1, 1, /empty/],
    [" \n", 1, 1, /empty/],
    ["// only this", 1, 13, /value/],
    ['{\n  "mcpServers": {\n    "a": {"command" "x"}\n  }\n}', 3, 21, /colon/],
    ['{"mcpServers": {', 1, 17, /missing|expected/],
    ["{'mcpServers': {}}", 1, 2, /JSON value/],
    ['{"mcpServers": {}}\r\nx', 2, 1, /JSON value|more text/],
    ["[]", 1, 1, /contains a list, not an object/],
    ["null", 1, 1, /contains null/],
    ['"x"', 1, 1, /contains a string/],
    ['{\n "mcpServers": []}', 2, 16, /mcpServers is a list, not an object/],
    ['{"mcpServers": null}', 1, 16, /mcpServers is null/],
    ['{"mcpServers": "x",}', 1, 16, /mcpServers is a string/],
  ])("%j", async (text, line, column, message) => {
    const error = await parse(text).then(
      () => undefined,
      (reason: unknown) => reason as ConfigError,
    );
    expect(error).toBeInstanceOf(ConfigError);
    expect(error).toMatchObject({ line, column });
    expect(error?.message).toMatch(message);
    expect(error?.message).toContain(`${PATH}:${line}:${column}: `);
  });
});

test("messages never contain values of variables, env or headers", async () => {
  const secret = "s3cret-value";
  const entries = [
    { command: ["${TOKEN}"], env: { A: secret, B: 1 }, args: secret },
    { command: "${TOKEN}", args: ["${TOKEN}", "${NOPE}"], env: { A: "${TOKEN}", "A=": secret } },
    { url: "${TOKEN}", headers: { "X Y": secret, Z: `${secret}\n${secret}` } },
    {
      url: "https://${TOKEN}:pw@x",
      headers: { A: "${TOKEN}\0" },
      oauth: { clientSecret: secret, clientId: 1 },
    },
  ];
  for (const entry of entries) {
    const { reason, warnings } = await one(entry);
    expect(reason).toBeDefined();
    expect([reason, ...warnings].join("\n")).not.toContain(secret);
  }
});

test("any JSON gives a Config that contains every server, or a ConfigError", async () => {
  const word = fc.constantFrom(
    "command",
    "args",
    "env",
    "url",
    "headers",
    "type",
    "tools",
    "lifecycle",
    "oauth",
    "cwd",
    "x",
  );
  const entry = fc.oneof(
    fc.jsonValue(),
    fc.dictionary(word, fc.oneof(fc.jsonValue(), fc.constant("http://a/${TOKEN}"))),
  );
  const file = fc.oneof(
    fc.jsonValue(),
    fc.record({ mcpServers: fc.dictionary(fc.string(), entry), pool: fc.jsonValue() }),
  );
  await fc.assert(
    fc.asyncProperty(file, async (value) => {
      try {
        const config = await parse(JSON.stringify(value));
        const known = new Set([...config.servers.keys(), ...config.broken.keys(), ...config.disabled]);
        const written = (value as { mcpServers?: object }).mcpServers ?? {};
        expect(known).toEqual(new Set(Object.keys(written)));
      } catch (error) {
        if (!(error instanceof ConfigError)) throw error;
      }
    }),
    { numRuns: 300 },
  );
});

describe("loadConfig", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "metamcp-load-"));
  });
  afterAll(async () => {
    await rm(folder, { recursive: true });
  });

  test("returns an empty config with exists: false for a missing file", async () => {
    const path = join(folder, "none", "x.json");
    const config = await loadConfig(path, { env: {}, overrides: { poolSize: 4 } });
    expect(config).toMatchObject({ path, exists: false, warnings: [], pool: { poolSize: 4 } });
    expect(config.servers.size).toBe(0);
  });

  test("uses the folder of the file as working directory of servers", async () => {
    const path = join(folder, "x.json");
    await writeFile(path, '{"mcpServers": {"a": {"command": "x"}}}');
    const config = await loadConfig(path, { env: {} });
    expect(config).toMatchObject({ path, exists: true });
    expect(config.servers.get("a")).toMatchObject({ cwd: folder });
  });

  test("rejects a folder in place of the file", async () => {
    await expect(loadConfig(folder, { env: {} })).rejects.toThrow(/it is a folder/);
  });
});
