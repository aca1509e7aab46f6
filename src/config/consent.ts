/** What a config file would run and call, for a person who is asked whether it may. Pure; who was asked before is allowed.ts. */
import { createHash } from "node:crypto";
import { HIDDEN, SHORTEST_SECRET } from "../kernel/secret.ts";
import { shownUrl } from "../kernel/shown-url.ts";
import { visible } from "../kernel/visible.ts";
import { isKeys, type Keys } from "./field.ts";
import { references } from "./variables.ts";

/** One thing that a file would start or dial. */
export interface Run {
  readonly name: string;
  /** Changes exactly when it would run or call something else. */
  readonly digest: string;
  /** For a person, line by line. */
  readonly shown: readonly string[];
}

/** Texts, time-outs and rules are not among them: they start nothing and send nothing. */
const COUNTED = [
  "type",
  "transport",
  "transportType",
  "command",
  "args",
  "env",
  "inheritEnv",
  "cwd",
  "url",
  "headers",
  "oauth",
] as const;

/** Variables that make a program run something else: who is asked must see what. They hold no secrets. */
const LOADS_CODE =
  /^(?:PATH|SHELL|ENV|BASH_ENV|(?:LD|DYLD)_[A-Z_]+|NODE_(?:OPTIONS|PATH)|PYTHON(?:PATH|HOME|STARTUP)|PERL5(?:OPT|LIB)|RUBY(?:OPT|LIB)|_?JAVA_(?:TOOL_)?OPTIONS|GIT_(?:SSH|SSH_COMMAND|EXEC_PATH)|npm_config_(?:registry|script_shell|node_options))$/i;

/** Everything in the file that is switched on, the embedder included: texts of the user would be sent there. */
export function runsOf(file: Keys): readonly Run[] {
  const { mcpServers, embedder } = file;
  const entries = Object.entries(isKeys(mcpServers) ? mcpServers : {});
  const servers = entries.flatMap(([name, entry]) =>
    isKeys(entry) && !isOff(entry) ? [runOf(name, entry)] : [],
  );
  return embedder === undefined ? servers : [...servers, embedderRun(embedder)];
}

/** `enabled: false` is what some other clients write. */
export function isOff({ disabled, enabled }: Keys): boolean {
  return disabled === true || enabled === false;
}

/** The name is no part of it: the same program under another name is the same. */
export function digestOf(entry: Keys): string {
  return digest(COUNTED.map((key) => entry[key]));
}

function runOf(name: string, entry: Keys): Run {
  return { name, digest: digestOf(entry), shown: describe(entry) };
}

function embedderRun(embedder: unknown): Run {
  const { url, keyEnv } = isKeys(embedder) ? embedder : {};
  const key = typeof keyEnv === "string" ? [`with your variable ${visible(keyEnv)}`] : [];
  return {
    name: "embedder",
    digest: digest(["embedder", embedder]),
    shown: [`sends search queries to ${address(url)}`, ...key],
  };
}

function describe(entry: Keys): readonly string[] {
  const { command, args, env, cwd, url, headers, inheritEnv } = entry;
  const words = [command, ...(Array.isArray(args) ? (args as unknown[]) : [])].map(text);
  const used = textsIn(COUNTED.map((key) => entry[key])).flatMap((one) => references(one));
  const names = [...new Set(used.map(({ name }) => name))];
  return [
    command === undefined ? `connects to ${address(url)}` : `runs ${visible(words.map(quoted).join(" "))}`,
    ...(cwd === undefined ? [] : [`in the folder ${visible(text(cwd))}`]),
    ...pairs("with the variables", env),
    ...pairs("with the headers", headers),
    ...(names.length > 0 ? [`with the values of your variables ${names.join(", ")}`] : []),
    ...(inheritEnv === true ? ["with your whole environment"] : []),
    ...(Array.isArray(inheritEnv) && inheritEnv.length > 0
      ? [`with your variables ${visible(inheritEnv.map(text).join(", "))}`]
      : []),
  ];
}

function pairs(label: string, map: unknown): readonly string[] {
  if (!isKeys(map) || Object.keys(map).length === 0) return [];
  const shown = Object.entries(map).map(([name, value]) => {
    const secret = text(value).length >= SHORTEST_SECRET && !LOADS_CODE.test(name);
    return `${name}=${secret ? HIDDEN : quoted(text(value))}`;
  });
  return [`${label} ${visible(shown.join(" "))}`];
}

function address(url: unknown): string {
  return visible(shownUrl(text(url)));
}

function text(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

function quoted(word: string): string {
  return /^[\w@%+=:,./${}-]+$/.test(word) ? word : `'${word}'`;
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

function digest(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value, sorted)).digest("hex");
}

/** The order of keys means nothing. */
function sorted(_key: string, value: unknown): unknown {
  return isKeys(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    : value;
}
