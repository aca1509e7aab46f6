/** Lists what a config file would run and connect to, for the user's consent. Pure; allowed.ts stores the consent. */
import { createHash } from "node:crypto";
import { HIDDEN, SHORTEST_SECRET } from "../kernel/secret.ts";
import { shownUrl } from "../kernel/shown-url.ts";
import { visible } from "../kernel/visible.ts";
import { isKeys, type Keys } from "./field.ts";
import { references } from "./variables.ts";

/** One program or address that a file would use. */
export interface ConsentItem {
  readonly name: string;
  /** Changes exactly when something else would run or be called. */
  readonly digest: string;
  /** Lines to show to the user. */
  readonly shown: readonly string[];
}

/** The keys that need consent. Others, such as timeouts and rules, start nothing and send nothing. */
const RELEVANT_KEYS = [
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

/** Variables that make a program load other code. Their values contain no secrets and must be visible to the user. */
const LOADS_CODE =
  /^(?:PATH|SHELL|ENV|BASH_ENV|(?:LD|DYLD)_[A-Z_]+|NODE_(?:OPTIONS|PATH)|PYTHON(?:PATH|HOME|STARTUP)|PERL5(?:OPT|LIB)|RUBY(?:OPT|LIB)|_?JAVA_(?:TOOL_)?OPTIONS|GIT_(?:SSH|SSH_COMMAND|EXEC_PATH)|npm_config_(?:registry|script_shell|node_options))$/i;

/** All enabled servers, and the embedder, because texts of the user are sent to it. */
export function consentItems(file: Keys): readonly ConsentItem[] {
  const { mcpServers, embedder } = file;
  const entries = Object.entries(isKeys(mcpServers) ? mcpServers : {});
  const servers = entries.flatMap(([name, entry]) =>
    isKeys(entry) && !isOff(entry) ? [serverItem(name, entry)] : [],
  );
  return embedder === undefined ? servers : [...servers, embedderItem(embedder)];
}

/** Some other clients write `enabled: false`. */
export function isOff({ disabled, enabled }: Keys): boolean {
  return disabled === true || enabled === false;
}

/** Does not contain the name: the same program with another name has the same digest. */
export function digestOf(entry: Keys): string {
  return digest(RELEVANT_KEYS.map((key) => entry[key]));
}

function serverItem(name: string, entry: Keys): ConsentItem {
  return { name, digest: digestOf(entry), shown: describe(entry) };
}

function embedderItem(embedder: unknown): ConsentItem {
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
  const used = textsIn(RELEVANT_KEYS.map((key) => entry[key])).flatMap((one) => references(one));
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

/** Sorts keys, so that their order does not matter. */
function sorted(_key: string, value: unknown): unknown {
  return isKeys(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    : value;
}
