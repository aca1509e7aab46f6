/** Every flag and environment name there is, in one table: parsing, help and documentation all come from it. */
import type { Row, Table, Values } from "./command-line.ts";

const ASK = ["search", "describe", "call", "chain", "exec", "auth", "doctor"] as const;
const LISTEN = ["run", "serve"] as const;
const SHOW = [...LISTEN, "tools"] as const;
const CONNECT = [...SHOW, ...ASK] as const;
const PRINT = [...ASK, "tools", "add", "remove", "list", "init", "import", "trust", "approve"] as const;

const weight = { kind: "real", flag: false, least: 0 } as const;
const legacy = (name: string): readonly string[] => [`METATOOLS_${name}`];
const renamed = (name: string): readonly string[] => [`METAMCP_${name}`, `METATOOLS_${name}`];
const bm25 = (ours: string, theirs: string): readonly string[] => [
  `METATOOLS_SEARCH_BM25_${ours}`,
  ...renamed(`SEARCH_BM25_${theirs}`),
];

export const FLAGS = {
  config: {
    kind: "text",
    value: "file",
    help: "Config file. Default: .mcp.json here, else ~/.metamcp/mcp.json.",
  },
  surface: {
    commands: SHOW,
    kind: "choice",
    choices: ["meta", "metatools", "aggregate", "auto"],
    default: "meta",
    help: "What clients see: four tools, the metatools, every tool, or whichever of meta and aggregate fits.",
  },
  transport: {
    commands: LISTEN,
    kind: "choice",
    choices: ["stdio", "streamable", "sse"],
    default: "stdio",
    aliases: legacy("TRANSPORT"),
    help: "How clients reach it.",
  },
  host: {
    commands: LISTEN,
    kind: "text",
    value: "address",
    default: "127.0.0.1",
    help: "Address to listen on.",
  },
  port: {
    commands: LISTEN,
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
  stateless: { commands: LISTEN, kind: "switch", help: "No sessions, no requests to clients." },
  jsonResponse: {
    commands: LISTEN,
    kind: "switch",
    help: "Answer with plain JSON instead of an event stream.",
  },
  sessionTimeout: {
    commands: LISTEN,
    kind: "time",
    least: 1,
    default: 1_800_000,
    aliases: renamed("TRANSPORT_STREAMABLE_SESSION_TIMEOUT"),
    help: "Idle HTTP sessions end after this time.",
  },
  maxConnections: {
    commands: CONNECT,
    kind: "whole",
    least: 1,
    default: 20,
    help: "Connections to servers at once.",
  },
  idleTimeout: {
    commands: CONNECT,
    kind: "time",
    least: 0,
    default: 300_000,
    help: "Idle connections end after this time.",
  },
  failureThreshold: {
    commands: CONNECT,
    kind: "whole",
    least: 1,
    default: 5,
    help: "Failures in a row after which a server is left alone.",
  },
  cooldown: {
    commands: CONNECT,
    kind: "time",
    least: 0,
    default: 30_000,
    help: "How long it is left alone.",
  },
  registryUrl: {
    commands: LISTEN,
    kind: "text",
    value: "url",
    help: "Registry that new servers are looked up in.",
  },
  noCode: { commands: [...SHOW, "exec"], kind: "switch", help: "No code execution." },
  noNotify: {
    commands: LISTEN,
    kind: "switch",
    help: "Do not tell clients when their list of tools changes.",
  },
  pin: {
    commands: CONNECT,
    kind: "switch",
    help: "Keep a tool whose description or schema changed, or that is new, out of use until it is approved.",
  },
  allowOrigin: {
    commands: LISTEN,
    kind: "list",
    value: "origin",
    help: "Web origin that may connect; may be repeated.",
  },
  allowHost: {
    commands: LISTEN,
    kind: "list",
    value: "host",
    help: "Further Host header that is ours; may be repeated.",
  },
  noAuth: {
    commands: LISTEN,
    kind: "switch",
    help: "Listen beyond loopback without a token: something in front takes care.",
  },
  maxMessage: {
    commands: CONNECT,
    kind: "whole",
    least: 1_024,
    default: 67_108_864,
    value: "bytes",
    help: "Largest single message.",
  },
  logLevel: {
    kind: "choice",
    choices: ["debug", "info", "warn", "error"],
    default: "info",
    help: "How much is logged.",
  },
  logFile: { kind: "text", value: "file", help: "Log to this file instead of stderr." },
  json: { kind: "switch", commands: PRINT, env: false, help: "Print JSON." },
  help: { kind: "switch", env: false, help: "Show this text." },
  version: { kind: "switch", env: false, help: "Show the version." },

  home: {
    kind: "text",
    flag: false,
    value: "folder",
    help: "Where everything of ours is kept (~/.metamcp).",
  },
  token: {
    commands: LISTEN,
    kind: "text",
    flag: false,
    help: "Bearer token that every HTTP request must carry.",
  },
  resPoolSize: { kind: "whole", flag: false, least: 0, help: "pool.resPoolSize of the config file." },
  minPoolSize: { kind: "whole", flag: false, least: 0, help: "pool.minPoolSize of the config file." },
  resPoolTimeout: { kind: "time", flag: false, least: 0, help: "pool.resPoolTimeout of the config file." },
  maxResultBytes: { kind: "whole", flag: false, least: 1, help: "maxResultBytes of the config file." },
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
    help: "How soon a repeated word stops counting.",
  },
  searchBm25B: {
    ...weight,
    most: 1,
    aliases: legacy("SEARCH_BM25_B"),
    help: "How much long texts are discounted.",
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
    help: "Most tools that are ranked.",
  },
  searchBm25MaxResults: {
    kind: "whole",
    flag: false,
    least: 1,
    aliases: legacy("SEARCH_BM25_MAX_RESULTS"),
    help: "Most results of one search.",
  },
  runtimeProfile: {
    kind: "choice",
    flag: false,
    choices: ["standard", "dev"],
    aliases: legacy("RUNTIME_PROFILE"),
    help: "Code runs in Docker or else WASM (standard), or as a plain, unsafe process (dev). Default: WASM.",
  },
  runtimeBackend: {
    kind: "choice",
    flag: false,
    choices: ["wasm", "docker"],
    aliases: legacy("RUNTIME_BACKEND"),
    help: "The one backend that code may run in.",
  },
  wasmEnabled: {
    kind: "switch",
    flag: false,
    default: true,
    aliases: legacy("WASM_ENABLED"),
    help: "Whether the standard profile may use WASM where there is no Docker.",
  },
} as const satisfies Table;

export type Settings = Values<typeof FLAGS>;

/** The rows that a command has. `run` is MetaMCP itself, without a command. */
export function flagsFor(command: string, table: Table = FLAGS): Table {
  const belongs = ([, { commands }]: [string, Row]): boolean => !commands || commands.includes(command);
  return Object.fromEntries(Object.entries(table).filter(belongs));
}
