/** The table of all flags and environment variables. Parsing, help and documentation are derived from it. */
import type { FlagRow, FlagValues, Table } from "./command-line.ts";

const ASK = ["search", "describe", "call", "chain", "exec", "auth", "doctor"] as const;
const RUN = ["run"] as const;
const LISTEN = [...RUN, "serve"] as const;
const SHOW = [...RUN, "tools"] as const;
const CONNECT = [...LISTEN, "tools", ...ASK] as const;
/** Commands that read or write a config file. A gateway keeps its servers in a store. */
const CONFIG = [
  ...RUN,
  ...ASK,
  "tools",
  "add",
  "remove",
  "list",
  "init",
  "import",
  "allow",
  "approve",
] as const;
const PRINT = [...CONFIG.filter((command) => command !== "run"), "trust", "gateway"];

const weight = { kind: "real", flag: false, least: 0 } as const;
const legacy = (name: string): readonly string[] => [`METATOOLS_${name}`];
const renamed = (name: string): readonly string[] => [`METAMCP_${name}`, `METATOOLS_${name}`];
const bm25 = (ours: string, theirs: string): readonly string[] => [
  `METATOOLS_SEARCH_BM25_${ours}`,
  ...renamed(`SEARCH_BM25_${theirs}`),
];

export const FLAGS = {
  config: {
    commands: CONFIG,
    instead: {
      serve:
        "metamcp serve keeps its servers in a store. Use --import FILE to import those of a config file.",
    },
    kind: "text",
    value: "file",
    help: "Config file. Default: .mcp.json here, else ~/.metamcp/mcp.json.",
  },
  middlewareDir: {
    commands: [...CONFIG, "serve"],
    kind: "text",
    value: "folder",
    help: 'Folder with your own layers, for { "use": "./NAME.mjs" } in a middleware list.',
  },
  surface: {
    commands: SHOW,
    kind: "choice",
    choices: ["meta", "metatools", "aggregate", "auto"],
    default: "meta",
    help: "What clients see: four tools (meta), eight (metatools), every tool (aggregate), or aggregate while the list is small, else meta (auto).",
  },
  transport: {
    commands: RUN,
    kind: "choice",
    choices: ["stdio", "streamable", "sse"],
    default: "stdio",
    aliases: legacy("TRANSPORT"),
    help: "How clients connect.",
  },
  host: {
    commands: LISTEN,
    kind: "text",
    value: "address",
    default: "127.0.0.1",
    help: "Address to listen on.",
  },
  port: {
    commands: RUN,
    kind: "whole",
    least: 0,
    most: 65_535,
    default: 8080,
    aliases: legacy("PORT"),
    help: "Port to listen on; 0 picks a free one.",
  },
  tls: { commands: LISTEN, kind: "switch", help: "Serve HTTPS; needs --tls-cert and --tls-key." },
  tlsCert: { commands: LISTEN, kind: "text", value: "file", help: "Certificate chain, PEM." },
  tlsKey: { commands: LISTEN, kind: "text", value: "file", help: "Private key, PEM." },
  accessLog: {
    commands: LISTEN,
    kind: "switch",
    help: "Log every HTTP request with an id, which clients get as X-Request-Id.",
  },
  stateless: { commands: RUN, kind: "switch", help: "Use no sessions and send no requests to clients." },
  jsonResponse: {
    commands: RUN,
    kind: "switch",
    help: "Answer with plain JSON instead of an event stream.",
  },
  sessionTimeout: {
    commands: LISTEN,
    kind: "time",
    least: 1,
    default: 1_800_000,
    aliases: renamed("TRANSPORT_STREAMABLE_SESSION_TIMEOUT"),
    help: "End idle HTTP sessions after this time (ms).",
  },
  heartbeat: {
    commands: LISTEN,
    kind: "time",
    least: 100,
    default: 25_000,
    help: "Write a comment to event streams this often, so that proxies do not close them (ms).",
  },
  maxConnections: {
    commands: CONNECT,
    kind: "whole",
    least: 1,
    default: 20,
    help: "Maximum number of connections to servers.",
  },
  idleTimeout: {
    commands: CONNECT,
    kind: "time",
    least: 0,
    default: 300_000,
    help: "End idle connections to servers after this time (ms).",
  },
  failureThreshold: {
    commands: CONNECT,
    kind: "whole",
    least: 1,
    default: 5,
    help: "Stop calling a server after this many failures in a row.",
  },
  cooldown: {
    commands: CONNECT,
    kind: "time",
    least: 0,
    default: 30_000,
    help: "Wait before retrying a failing server (ms).",
  },
  registryUrl: {
    commands: LISTEN,
    kind: "text",
    value: "url",
    help: "Registry to look up new servers in.",
  },
  registryToken: {
    commands: LISTEN,
    kind: "text",
    flag: false,
    secret: true,
    help: "Bearer token or API key for the registry in METAMCP_REGISTRY_URL.",
  },
  noCode: { commands: [...SHOW, "serve", "exec"], kind: "switch", help: "Turn off code execution." },
  noNotify: {
    commands: LISTEN,
    kind: "switch",
    help: "Do not notify clients when their list of tools changes.",
  },
  pin: {
    commands: CONNECT,
    kind: "switch",
    help: "Block tools that are new or changed since they were approved; see metamcp approve.",
  },
  allowOrigin: {
    commands: LISTEN,
    kind: "list",
    value: "origin",
    help: "Web origin that may connect; can be repeated.",
  },
  allowHost: {
    commands: LISTEN,
    kind: "list",
    value: "host",
    help: "Additional Host header to accept, with any port if it has none; can be repeated.",
  },
  noAuth: {
    commands: RUN,
    kind: "switch",
    help: "Allow connections from other machines without a token. Use only behind an authenticating proxy.",
  },
  maxMessage: {
    commands: CONNECT,
    kind: "whole",
    least: 1_024,
    default: 67_108_864,
    value: "bytes",
    help: "Maximum message size.",
  },
  logLevel: {
    kind: "choice",
    choices: ["debug", "info", "warn", "error"],
    default: "info",
    help: "What to log; debug includes what servers print on stderr.",
  },
  logFile: { kind: "text", value: "file", help: "Log to this file instead of stderr." },
  json: { kind: "switch", commands: PRINT, env: false, help: "Print JSON." },
  help: { kind: "switch", env: false, help: "Show this help." },
  version: { kind: "switch", env: false, help: "Show the version." },

  home: {
    kind: "text",
    flag: false,
    value: "folder",
    help: "Folder for MetaMCP's files. Default: ~/.metamcp.",
  },
  token: {
    commands: RUN,
    kind: "text",
    flag: false,
    secret: true,
    help: "Bearer token that every HTTP request must carry.",
  },
  resPoolSize: { kind: "whole", flag: false, least: 0, help: "pool.resPoolSize of the config file." },
  minPoolSize: { kind: "whole", flag: false, least: 0, help: "pool.minPoolSize of the config file." },
  resPoolTimeout: { kind: "time", flag: false, least: 0, help: "pool.resPoolTimeout of the config file." },
  maxResultBytes: { kind: "whole", flag: false, least: 1, help: "maxResultBytes of the config file." },
  autoMaxBytes: { kind: "whole", flag: false, least: 0, help: "autoMaxBytes of the config file." },
  pinned: { kind: "list", flag: false, help: "pinned of the config file, with commas." },
  examplesFromUsage: { kind: "switch", flag: false, help: "examples.fromUsage of the config file." },
  embedderUrl: { kind: "text", flag: false, help: "embedder.url of the config file." },
  embedderModel: { kind: "text", flag: false, help: "embedder.model of the config file." },
  embedderKeyEnv: { kind: "text", flag: false, help: "embedder.keyEnv of the config file." },
  searchStrategy: {
    kind: "choice",
    flag: false,
    choices: ["lexical", "bm25", "hybrid"],
    default: "hybrid",
    aliases: legacy("SEARCH_STRATEGY"),
    help: "How tools are ranked.",
  },
  searchBm25K1: {
    ...weight,
    aliases: legacy("SEARCH_BM25_K1"),
    help: "BM25 k1: how much a repeated word adds.",
  },
  searchBm25B: {
    ...weight,
    most: 1,
    aliases: legacy("SEARCH_BM25_B"),
    help: "BM25 b: how much long texts are discounted.",
  },
  searchBm25NameWeight: {
    ...weight,
    aliases: bm25("NAME_WEIGHT", "NAME_BOOST"),
    help: "Weight of tool names.",
  },
  searchBm25TitleWeight: {
    ...weight,
    aliases: legacy("SEARCH_BM25_TITLE_WEIGHT"),
    help: "Weight of titles.",
  },
  searchBm25ServerWeight: {
    ...weight,
    aliases: bm25("SERVER_WEIGHT", "NAMESPACE_BOOST"),
    help: "Weight of server names.",
  },
  searchBm25DescriptionWeight: {
    ...weight,
    aliases: legacy("SEARCH_BM25_DESCRIPTION_WEIGHT"),
    help: "Weight of descriptions.",
  },
  searchBm25ParameterWeight: {
    ...weight,
    aliases: legacy("SEARCH_BM25_PARAMETER_WEIGHT"),
    help: "Weight of parameter names.",
  },
  searchBm25ParameterDescriptionWeight: {
    ...weight,
    aliases: legacy("SEARCH_BM25_PARAMETER_DESCRIPTION_WEIGHT"),
    help: "Weight of parameter descriptions.",
  },
  searchBm25ServerDescriptionWeight: {
    ...weight,
    aliases: legacy("SEARCH_BM25_SERVER_DESCRIPTION_WEIGHT"),
    help: "Weight of server descriptions.",
  },
  searchBm25MaxDocs: {
    kind: "whole",
    flag: false,
    least: 1,
    aliases: legacy("SEARCH_BM25_MAX_DOCS"),
    help: "Maximum number of tools to rank.",
  },
  searchBm25MaxResults: {
    kind: "whole",
    flag: false,
    least: 1,
    aliases: legacy("SEARCH_BM25_MAX_RESULTS"),
    help: "Maximum number of results of one search.",
  },
  runtimeProfile: {
    kind: "choice",
    flag: false,
    choices: ["standard", "dev"],
    aliases: legacy("RUNTIME_PROFILE"),
    help: "Run code in Docker, else WASM (standard), or as a plain, unsafe process (dev). Default: WASM.",
  },
  runtimeBackend: {
    kind: "choice",
    flag: false,
    choices: ["wasm", "docker"],
    aliases: legacy("RUNTIME_BACKEND"),
    help: "Run code only in this backend.",
  },
  wasmEnabled: {
    kind: "switch",
    flag: false,
    default: true,
    aliases: legacy("WASM_ENABLED"),
    help: "Let the standard profile use WASM if there is no Docker.",
  },
} as const satisfies Table;

export type Settings = FlagValues<typeof FLAGS>;

/** The flags of a command. `run` is MetaMCP without a command. */
export function flagsFor(command: string, table: Table = FLAGS): Table {
  const hasFlag = ([, { commands }]: [string, FlagRow]): boolean => !commands || commands.includes(command);
  return Object.fromEntries(Object.entries(table).filter(hasFlag));
}
