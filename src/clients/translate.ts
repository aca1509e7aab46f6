/**
 * Translates a server entry of a client into one of our config. Copies values unchanged and never puts them
 * into messages.
 */
import { isKeys, type Keys, kindOf } from "../config/field.ts";
import { mayBeRelativePath } from "../config/identity.ts";
import type { FileDialect, WrittenServer } from "./client.ts";
import { wordsOf } from "./metamcp-entry.ts";
import { type Notes, translateVariables } from "./placeholders.ts";

export type Translated =
  | {
      readonly entry: Keys;
      readonly notes: readonly string[];
      /** Those of `notes` about what was not read. */
      readonly unread: readonly string[];
    }
  | { readonly reason: string };

const KINDS: Readonly<Record<string, "stdio" | "http" | "sse">> = {
  stdio: "stdio",
  local: "stdio",
  sse: "sse",
  http: "http",
  remote: "http",
  streamable: "http",
  streamablehttp: "http",
};

export function translate({ entry, project }: WrittenServer, dialect: FileDialect = {}): Translated {
  if (!isKeys(entry)) return { reason: `it is ${kindOf(entry)}, not an object` };
  const declared = kindIn(entry);
  if (declared === "unknown") return { reason: "its type is not supported" };
  const notes: Notes = { texts: new Set(), unread: new Set(unreadKeys(entry)) };
  const translateText = (text: string): string => translateVariables(text, dialect, notes);
  const words = wordsOf(entry);
  const address = [entry["url"], entry["httpUrl"], entry["serverUrl"]].find((url) => typeof url === "string");
  if (words.length === 0 && address === undefined) {
    return {
      reason: isKeys(entry["settings"])
        ? "it comes with an extension of that client"
        : "it has neither a command nor a url",
    };
  }
  const connection =
    words.length > 0
      ? local(entry, words, project, translateText)
      : remote(entry, String(address), declared ?? kindOfUrl(entry, dialect), translateText);
  const unread = [...notes.unread];
  return {
    entry: compact({ ...connection, ...tuning(entry, dialect) }),
    notes: [...notes.texts, ...unread],
    unread,
  };
}

function kindIn(entry: Keys): "stdio" | "http" | "sse" | "unknown" | undefined {
  const written = entry["type"] ?? entry["transport"] ?? entry["transportType"];
  if (typeof written !== "string") return undefined;
  const word = written.toLowerCase().replaceAll(/[-_]/g, "");
  return Object.hasOwn(KINDS, word) ? KINDS[word] : "unknown";
}

function kindOfUrl(entry: Keys, { urlIsSse }: FileDialect): "sse" | undefined {
  return urlIsSse && typeof entry["url"] === "string" && entry["httpUrl"] === undefined ? "sse" : undefined;
}

type TranslateText = (text: string) => string;

function local(
  entry: Keys,
  words: readonly string[],
  project: string | undefined,
  translateText: TranslateText,
): Keys {
  const [command = "", ...args] = words.map(translateText);
  const inner = isKeys(entry["command"]) ? entry["command"] : {};
  const cwd = typeof entry["cwd"] === "string" ? translateText(entry["cwd"]) : undefined;
  // The client starts the server in the project folder, so relative paths refer to it.
  const projectFolder = project !== undefined && words.some(mayBeRelativePath) ? project : undefined;
  return {
    command,
    args: args.length > 0 ? args : undefined,
    env: texts(
      { ...asKeys(inner["env"]), ...asKeys(entry["environment"]), ...asKeys(entry["env"]) },
      translateText,
    ),
    inheritEnv: inherited(entry["env_vars"]),
    cwd: cwd ?? projectFolder,
  };
}

function remote(entry: Keys, url: string, kind: string | undefined, translateText: TranslateText): Keys {
  const options = asKeys(entry["requestOptions"]);
  const bearer = entry["bearer_token_env_var"];
  const fromEnv = Object.entries(asKeys(entry["env_http_headers"])).map(([name, variable]) => [
    name,
    `\${${String(variable)}}`,
  ]);
  return {
    type: kind === "stdio" ? undefined : kind,
    url: translateText(url),
    headers: texts(
      {
        ...(typeof bearer === "string" ? { Authorization: `Bearer \${${bearer}}` } : {}),
        ...Object.fromEntries(fromEnv),
        ...asKeys(options["headers"]),
        ...asKeys(entry["http_headers"]),
        ...asKeys(entry["headers"]),
      },
      translateText,
    ),
    oauth: oauth(entry, translateText),
  };
}

function oauth(entry: Keys, translateText: TranslateText): Keys | undefined {
  const given = { ...asKeys(entry["auth"]), ...asKeys(entry["oauth"]) };
  const text = (...keys: string[]): string | undefined => {
    const found = keys.map((key) => given[key]).find((value) => typeof value === "string");
    return found === undefined ? undefined : translateText(String(found));
  };
  const scopes = given["scopes"] ?? given["scope"];
  const list = typeof scopes === "string" ? scopes.split(/[\s,]+/) : scopes;
  const found = compact({
    clientId: text("clientId", "CLIENT_ID"),
    clientSecret: text("clientSecret", "CLIENT_SECRET"),
    scopes: Array.isArray(list) ? list.map(String) : undefined,
  });
  return Object.keys(found).length > 0 ? found : undefined;
}

/** Translates `disabled`, the tool rules and the timeouts. */
function tuning(entry: Keys, { timeoutUnitMs }: FileDialect): Keys {
  const list = (...keys: string[]): readonly string[] | undefined => {
    const found = keys.map((key) => entry[key]).find(Array.isArray) as unknown[] | undefined;
    return found?.map(String);
  };
  const allow = list("includeTools", "enabled_tools", "enabledTools", "tools");
  const deny = list("excludeTools", "disabled_tools", "disabledTools");
  const tools = compact({
    // An empty list allows no tools, as in the client.
    allow: allow?.includes("*") ? undefined : allow,
    deny: deny && deny.length > 0 ? deny : undefined,
  });
  const ms = (key: string, unit: number | undefined): number | undefined => {
    const value = Number(entry[key] ?? Number.NaN);
    return unit !== undefined && value > 0 ? Math.round(value * unit) : undefined;
  };
  return {
    disabled: entry["disabled"] === true || entry["enabled"] === false ? true : undefined,
    tools: Object.keys(tools).length > 0 ? tools : undefined,
    timeoutMs: ms("tool_timeout_sec", 1_000) ?? ms("timeout", timeoutUnitMs),
    connectTimeoutMs: ms("startup_timeout_sec", 1_000) ?? ms("startup_timeout_ms", 1),
  };
}

function inherited(value: unknown): readonly string[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const names = value.flatMap((item: unknown) => (isKeys(item) ? [item["name"]] : [item]));
  return names.filter((name): name is string => typeof name === "string");
}

function texts(map: Keys, translateText: TranslateText): Keys | undefined {
  const entries = Object.entries(map).filter(([, value]) => value !== null && typeof value !== "object");
  return entries.length > 0
    ? Object.fromEntries(entries.map(([name, value]) => [name, translateText(String(value))]))
    : undefined;
}

function asKeys(value: unknown): Keys {
  return isKeys(value) ? value : {};
}

function compact(keys: Keys): Keys {
  return Object.fromEntries(Object.entries(keys).filter(([, value]) => value !== undefined));
}

/**
 * Knows which keys of a client's entry `translate` reads, and which mean nothing outside that client. Any
 * other key may restrict or complete the server, so an entry that has one stays in the client.
 */
const READ =
  "type transport transportType command args env environment env_vars cwd url httpUrl serverUrl headers http_headers env_http_headers " +
  "bearer_token_env_var requestOptions auth oauth disabled enabled timeout tool_timeout_sec startup_timeout_sec startup_timeout_ms " +
  "includeTools enabled_tools enabledTools excludeTools disabled_tools disabledTools tools";

/** Names and pictures, what the client may run without asking, and how it shows or starts the server. */
const HARMLESS =
  "name title description icon icons source settings gallery version dev trust alwaysAllow autoApprove required remoteConfigured " +
  "supports_parallel_tool_calls initTimeout connectionTimeout alwaysLoad deferTools faviconUrl $schema _comment comment note";

const KNOWN = new Set(`${READ} ${HARMLESS}`.split(" "));

/** One sentence for each key that is not read. */
function unreadKeys(entry: Keys): readonly string[] {
  return Object.keys(entry).flatMap((key) => {
    if (key === "envFile") return ["envFile is not read; write its variables in env"];
    if (key === "headersHelper") return ["headersHelper is not supported; write the headers themselves"];
    if (key === "tools" && isKeys(entry[key])) return ["its settings of single tools are not read"];
    return KNOWN.has(key) ? [] : [`its setting "${key}" is not read`];
  });
}
