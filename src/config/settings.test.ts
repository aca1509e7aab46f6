import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { envOf, flagOf, type Table, UsageError } from "./command-line.ts";
import { FLAGS } from "./flags.ts";
import { flagHelp, settingsMarkdown } from "./help.ts";
import { configCandidates } from "./locate.ts";
import { readSettings } from "./settings.ts";

const ROWS: Table = FLAGS;
const read = (line: string, env: Record<string, string> = {}) =>
  readSettings(line === "" ? [] : line.split(" "), env);

test("the defaults are the documented ones", () => {
  const { settings, given, overrides } = read("");
  expect(settings).toMatchObject({
    config: undefined,
    surface: "meta",
    transport: "stdio",
    host: "127.0.0.1",
    port: 8080,
    tls: false,
    stateless: false,
    jsonResponse: false,
    sessionTimeout: 1_800_000,
    heartbeat: 25_000,
    maxConnections: 20,
    idleTimeout: 300_000,
    failureThreshold: 5,
    cooldown: 30_000,
    noCode: false,
    noNotify: false,
    pin: false,
    allowOrigin: [],
    allowHost: [],
    noAuth: false,
    maxMessage: 67_108_864,
    logLevel: "info",
    searchStrategy: "hybrid",
    runtimeProfile: undefined,
    wasmEnabled: true,
  });
  expect(given.size).toBe(0);
  expect(overrides).toEqual({});
});

test("the flags are exactly the documented ones", () => {
  const documented =
    "--config --middleware-dir --surface --max-connections --idle-timeout --failure-threshold --cooldown --transport --host --port --tls --tls-cert --tls-key --access-log --stateless --json-response --session-timeout --heartbeat --registry-url --no-code --no-notify --pin --allow-origin --allow-host --no-auth --max-message --log-level --log-file --help --version";
  const flags = Object.keys(FLAGS).filter((key) => ROWS[key]?.flag !== false);
  expect(new Set(flags.map(flagOf))).toEqual(new Set([...documented.split(" "), "--json"]));
});

test.each<[string, object]>([
  ["--port 9000", { port: 9_000 }],
  ["--port=0", { port: 0 }],
  ["--port 1 --port 2", { port: 2 }],
  [
    "--idle-timeout 5m --cooldown 500ms --session-timeout 1h",
    { idleTimeout: 300_000, cooldown: 500, sessionTimeout: 3_600_000 },
  ],
  ["--idle-timeout 0", { idleTimeout: 0 }],
  ["--surface aggregate --transport streamable", { surface: "aggregate", transport: "streamable" }],
  ["--transport SSE", { transport: "sse" }],
  ["--no-code --stateless", { noCode: true, stateless: true }],
  ["--stateless=false", { stateless: false }],
  ["--allow-origin a --allow-origin=b,c", { allowOrigin: ["a", "b", "c"] }],
  ["--tls --tls-cert c --tls-key k", { tls: true, tlsCert: "c", tlsKey: "k" }],
  ["--config=a=b", { config: "a=b" }],
  ["-h", { help: true }],
  ["-V", { version: true }],
  ["--version --tls", { version: true }],
])("%s is accepted", (line, settings) => {
  expect(read(line).settings).toMatchObject(settings);
});

test.each<[string, RegExp]>([
  ["--prot 1", /--prot is not a known flag\. Did you mean "--port"/],
  ["--maxconnections 1", /Did you mean "--max-connections"/],
  ["--zzz", /--zzz is not a known flag\.$/],
  ["-x", /-x is not a known flag/],
  ["--port", /--port needs a value: a whole number from 0 to 65535/],
  ["--port --tls", /--port needs a value/],
  ["--port=", /--port is "", but must be a whole number/],
  ["--port abc", /--port is "abc", but must be a whole number from 0 to 65535/],
  ["--port 65536", /--port is "65536"/],
  ["--port -1", /--port is "-1"/],
  ["--port 1.5", /--port is "1\.5"/],
  ["--max-connections 0", /at least 1/],
  ["--max-connections NaN", /--max-connections is "NaN"/],
  ["--cooldown soon", /--cooldown is "soon", but must be a time/],
  ["--cooldown -5", /--cooldown is "-5"/],
  ["--idle-timeout 99d", /at most 24 days/],
  ["--surface meat", /one of meta, metatools, aggregate, auto\. Did you mean "meta"/],
  ["--tls=maybe", /must be true or false/],
  ["--config=", /--config is ""/],
  ["--allow-origin=,", /one or more values/],
  ["--=5", /-- is not a known flag/],
  ["--tls", /--tls needs --tls-cert and --tls-key/],
  ["--tls-cert x", /need --tls/],
  ["--json", /--json is not a flag of "metamcp"\. It belongs to .*metamcp tools/],
])("%s is refused", (line, message) => {
  expect(() => read(line)).toThrow(UsageError);
  expect(() => read(line)).toThrow(message);
});

describe("environment variables", () => {
  test.each<[Record<string, string>, object]>([
    [{ METAMCP_PORT: "1" }, { port: 1 }],
    [{ METAMCP_PORT: "" }, { port: 8080 }],
    [{ METAMCP_NO_CODE: "1" }, { noCode: true }],
    [{ METAMCP_NO_CODE: "off" }, { noCode: false }],
    [{ METAMCP_ALLOW_HOST: "a, b" }, { allowHost: ["a", "b"] }],
    [
      { METAMCP_TOKEN: "t", METAMCP_HOME: "/h" },
      { token: "t", home: "/h" },
    ],
    [
      { METATOOLS_TRANSPORT: "streamable", METATOOLS_PORT: "2" },
      { transport: "streamable", port: 2 },
    ],
    [{ METATOOLS_PORT: "2", METAMCP_PORT: "3" }, { port: 3 }],
    [{ METATOOLS_PORT: "nonsense", METAMCP_PORT: "3" }, { port: 3 }],
    [{ METATOOLS_TRANSPORT_STREAMABLE_SESSION_TIMEOUT: "30m" }, { sessionTimeout: 1_800_000 }],
    [
      {
        METATOOLS_TRANSPORT_STREAMABLE_SESSION_TIMEOUT: "1",
        METAMCP_TRANSPORT_STREAMABLE_SESSION_TIMEOUT: "2",
      },
      { sessionTimeout: 2 },
    ],
    [
      { METAMCP_SESSION_TIMEOUT: "3", METAMCP_TRANSPORT_STREAMABLE_SESSION_TIMEOUT: "2" },
      { sessionTimeout: 3 },
    ],
    [{ METATOOLS_SEARCH_STRATEGY: "BM25" }, { searchStrategy: "bm25" }],
    [
      { METAMCP_SEARCH_BM25_K1: "1.5", METAMCP_SEARCH_BM25_B: ".5" },
      { searchBm25K1: 1.5, searchBm25B: 0.5 },
    ],
    [{ METATOOLS_SEARCH_BM25_NAME_WEIGHT: "4" }, { searchBm25NameWeight: 4 }],
    [{ METATOOLS_SEARCH_BM25_NAME_BOOST: "3" }, { searchBm25NameWeight: 3 }],
    [
      { METAMCP_SEARCH_BM25_MAX_DOCS: "9", METAMCP_SEARCH_BM25_MAX_RESULTS: "8" },
      { searchBm25MaxDocs: 9, searchBm25MaxResults: 8 },
    ],
    [
      { METATOOLS_RUNTIME_PROFILE: "standard", METATOOLS_RUNTIME_BACKEND: "wasm" },
      { runtimeProfile: "standard", runtimeBackend: "wasm" },
    ],
    [{ METATOOLS_WASM_ENABLED: "false" }, { wasmEnabled: false }],
  ])("%j are accepted", (env, settings) => {
    expect(read("", env).settings).toMatchObject(settings);
  });

  test.each<[Record<string, string>, RegExp]>([
    [{ METAMCP_PORT: "x" }, /^METAMCP_PORT is "x", but must be/],
    [{ METATOOLS_PORT: "x" }, /^METATOOLS_PORT is "x"/],
    [{ METAMCP_SEARCH_BM25_B: "2" }, /METAMCP_SEARCH_BM25_B is "2", but must be a number from 0 to 1/],
    [{ METAMCP_RUNTIME_PROFILE: "unsafe" }, /one of standard, dev/],
    [{ METAMCP_WASM_ENABLED: "perhaps" }, /true or false/],
  ])("%j are refused", (env, message) => {
    expect(() => read("", env)).toThrow(UsageError);
    expect(() => read("", env)).toThrow(message);
  });

  test("do not prevent --help if they are invalid", () => {
    expect(read("--help", { METAMCP_PORT: "x" }).settings.help).toBe(true);
  });

  test("are checked only by commands that use them", () => {
    expect(readSettings(["--json"], { METAMCP_PORT: "x" }, { command: "list" }).settings.json).toBe(true);
  });

  test("give a warning if they look misspelt, but not if they belong to another program", () => {
    const env = {
      METAMCP_MAX_CONECTIONS: "5",
      METAMCP_CHILD: "x",
      METAMCP_SOMETHING_ELSE_ENTIRELY: "1",
      PORT: "1",
    };
    expect(read("", env).warnings).toEqual([
      'METAMCP_MAX_CONECTIONS is not a known variable. Did you mean "METAMCP_MAX_CONNECTIONS"?',
    ]);
  });
});

test("flags win over the environment, and the source of each value is returned", () => {
  const { settings, given } = read("--port 5", { METAMCP_PORT: "6", METAMCP_HOST: "h" });
  expect(settings).toMatchObject({ port: 5, host: "h" });
  expect([...given]).toEqual(
    expect.arrayContaining([
      ["port", "--port"],
      ["host", "METAMCP_HOST"],
    ]),
  );
});

test("overrides contain all given values, even if they equal the default", () => {
  expect(
    read("--max-connections 20 --cooldown 1s", { METAMCP_IDLE_TIMEOUT: "300000", METAMCP_MIN_POOL_SIZE: "2" })
      .overrides,
  ).toEqual({
    poolSize: 20,
    cooldownMs: 1_000,
    idleTimeoutMs: 300_000,
    minPoolSize: 2,
  });
  expect(
    read("", {
      METAMCP_EMBEDDER_MODEL: "m",
      METAMCP_EXAMPLES_FROM_USAGE: "true",
      METAMCP_MAX_RESULT_BYTES: "7",
      METAMCP_AUTO_MAX_BYTES: "0",
    }).overrides,
  ).toEqual({
    embedder: { model: "m" },
    examplesFromUsage: true,
    maxResultBytes: 7,
    autoMaxBytes: 0,
  });
});

test("a command can have its own flags and positionals", () => {
  const own = {
    status: { kind: "switch", help: "Show it." },
    limit: { kind: "whole", least: 1, default: 3, help: "How many." },
  } as const;
  const { settings, positionals } = readSettings(
    ["github", "--status", "--", "--limit"],
    {},
    { command: "auth", own },
  );
  expect([settings.status, settings.limit, positionals]).toEqual([true, 3, ["github", "--limit"]]);
  expect(() => readSettings(["--transport", "sse"], {}, { command: "auth", own })).toThrow(
    /not a flag of "metamcp auth"/,
  );
});

test("for every setting, flag and environment variable are read in the same way", () => {
  const sample: Record<string, fc.Arbitrary<string>> = {
    whole: fc.constantFrom("2000", "65535", "x", "-1"),
    real: fc.constantFrom("0.5", "1", "x"),
    time: fc.constantFrom("5", "3s", "x", "1.5"),
    text: fc.constantFrom("a", "b c"),
    switch: fc.constantFrom("true", "0", "x"),
    list: fc.constantFrom("a", "a,b", ","),
  };
  for (const [key, row] of Object.entries(ROWS)) {
    if (row.flag === false || row.env === false || key.startsWith("tls")) continue;
    const value =
      row.kind === "choice" ? fc.constantFrom(...row.choices, "x") : (sample[row.kind] ?? fc.constant(""));
    const outcome = (argv: string[], env: Record<string, string>): unknown => {
      try {
        return readSettings(argv, env).settings[key as keyof typeof FLAGS];
      } catch (error) {
        return (error as Error).name;
      }
    };
    fc.assert(
      fc.property(value, (written) => {
        expect(outcome([`${flagOf(key)}=${written}`], {})).toEqual(outcome([], { [envOf(key)]: written }));
      }),
      { numRuns: 10 },
    );
  }
});

test("help and documentation contain every setting", () => {
  const help = flagHelp("run");
  expect(help).toMatch(/--max-connections <number> +Maximum number of connections .*\[20\]/);
  expect(help).not.toContain("--json ");
  expect(help.split("\n").every((line) => line.startsWith("  --"))).toBe(true);
  const page = settingsMarkdown(FLAGS);
  for (const key of Object.keys(FLAGS))
    expect(page).toContain(ROWS[key]?.env === false ? flagOf(key) : `\`${envOf(key)}\``);
});

test("commands that read no config file neither list nor accept --config", () => {
  for (const command of ["serve", "gateway", "trust"]) {
    expect(flagHelp(command), command).not.toContain("--config");
    expect(() => readSettings(["--config", "x"], {}, { command }), command).toThrow(UsageError);
  }
  expect(() => readSettings(["--config", "x"], {}, { command: "serve" })).toThrow(/Use --import FILE/);
  expect(flagHelp("serve")).toContain("--middleware-dir");
});

test("the config file is the given one, else the one in the working directory, else the one in the home folder", () => {
  const env = { HOME: "/home/me" };
  expect(configCandidates("x.json", "/p", env)).toEqual(["/p/x.json"]);
  expect(configCandidates("~/x.json", "/p", env)).toEqual(["/home/me/x.json"]);
  expect(configCandidates(undefined, "/p", env)).toEqual(["/p/.mcp.json", "/home/me/.metamcp/mcp.json"]);
  expect(configCandidates(undefined, "/p", { METAMCP_HOME: "/h" })[1]).toBe("/h/mcp.json");
});

test.each([
  [
    "--port 9000 --stateless",
    "No effect over stdio: --port, --stateless. Did you mean --transport streamable?",
  ],
  ["--host ::1", "No effect over stdio: --host. Did you mean --transport streamable or sse?"],
  ["--transport sse --port 1 --json-response", "No effect over sse: --json-response."],
])("%s gives a warning", (line, warning) => {
  expect(read(line).warnings).toEqual([expect.stringContaining(warning)]);
});

test("flags with an effect, and variables, give no warning", () => {
  expect(read("--transport streamable --port 1 --stateless").warnings).toEqual([]);
  expect(read("", { METAMCP_PORT: "9000" }).warnings).toEqual([]);
});
