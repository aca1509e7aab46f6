/** How a server is reached, as people may see it: variables as they are written in the file, and nothing that could be a secret. */
import { isKeys, type Keys } from "../config/field.ts";
import { readConfigText } from "../config/load.ts";
import { parseText } from "../config/parse.ts";
import type { Config, ServerSpec } from "../config/spec.ts";
import { shownUrl } from "../kernel/secret.ts";

const HIDDEN = "***";
const SECRET_WORD = "(?:token|key|secret|passw|pwd|auth|credential|bearer|cookie)";
/** `--api-key`, whose value follows. */
const SECRET_FLAG = new RegExp(`^--?[\\w-]*${SECRET_WORD}[\\w-]*$`, "i");
/** `--api-key=…`, `TOKEN=…`, `Authorization: …` */
const SECRET_PAIR = new RegExp(`^(-{0,2}[\\w-]*${SECRET_WORD}[\\w-]*\\s*[=:]\\s*)(.*)$`, "is");
/** How well-known services begin their tokens. */
const TOKEN = /\b(?:sk-|gh[a-z]_|github_pat_|glpat-|xox[a-z]-|AKIA|eyJ)[\w.-]{8,}/g;
/** Alone it says nothing. */
const VARIABLE_ONLY = /^(?:\w+ )?\$\{[^}]*\}$/;

/** Of each usable server, by name: its command as a shell would take it, or its address. */
export async function targetsOf(config: Config): Promise<ReadonlyMap<string, string>> {
  const written = await entriesOf(config);
  return new Map(
    [...config.servers].map(([name, spec]) => {
      const entry = written[name];
      return [name, shownTarget(spec, isKeys(entry) ? entry : {})];
    }),
  );
}

/** The same for an entry alone, as it is written. */
export function entryTarget(entry: Keys): string {
  const { command, args, env, url } = entry;
  if (typeof command !== "string") return shownUrl(String(url));
  const words = Array.isArray(args) ? args.map(String) : [];
  const values = isKeys(env) ? (env as Readonly<Record<string, string>>) : {};
  return shownCommand([command, ...words], values);
}

async function entriesOf({ path }: Config): Promise<Keys> {
  const text = await readConfigText(path);
  const parsed = text === undefined ? undefined : await parseText(text);
  const file = parsed && "value" in parsed ? parsed.value : undefined;
  const servers = isKeys(file) ? file["mcpServers"] : undefined;
  return isKeys(servers) ? servers : {};
}

function shownTarget(spec: ServerSpec, entry: Keys): string {
  if (spec.kind !== "stdio") return shownUrl(asWritten(entry["url"], spec.url));
  const written: unknown[] = Array.isArray(entry["args"]) ? entry["args"] : [];
  const args = spec.args.map((arg, at) => asWritten(written[at], arg));
  return shownCommand([asWritten(entry["command"], spec.command), ...args], spec.env);
}

function shownCommand(
  [command = "", ...words]: readonly string[],
  env: Readonly<Record<string, string>>,
): string {
  const values = new Set(Object.values(env).filter((value) => value.length > 3));
  const shown = words.map((word, at) => {
    if (values.has(word)) return HIDDEN;
    return SECRET_FLAG.test(words[at - 1] ?? "") && !word.startsWith("-") ? hidden(word) : shownWord(word);
  });
  return [command, ...shown].map(quoted).join(" ");
}

function asWritten(value: unknown, resolved: string): string {
  return typeof value === "string" ? value : resolved;
}

function hidden(value: string): string {
  return VARIABLE_ONLY.test(value) ? value : HIDDEN;
}

function shownWord(word: string): string {
  if (/^https?:\/\//i.test(word)) return shownUrl(word);
  const pair = SECRET_PAIR.exec(word);
  return pair ? `${pair[1]}${hidden(pair[2] ?? "")}` : word.replaceAll(TOKEN, HIDDEN);
}

function quoted(word: string): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word;
  return /^[^"`\\!]*\$\{[^"`\\!]*$/.test(word) ? `"${word}"` : `'${word.replaceAll("'", "'\\''")}'`;
}
