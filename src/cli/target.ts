/** The command or URL of a server for display: variables as written in the file, and secrets hidden. */
import { isKeys, type Keys } from "../config/field.ts";
import { readConfigText } from "../config/load.ts";
import { parseText } from "../config/parse.ts";
import { maskFor } from "../config/secrets.ts";
import type { Config, ServerSpec } from "../config/spec.ts";
import { isSecretName, isSecretText } from "../kernel/looks-secret.ts";
import { HIDDEN, maskOf, needlesOf, type Secret } from "../kernel/secret.ts";
import { hasSecretForm } from "../kernel/secret-spans.ts";
import { shellWord } from "../kernel/shell-word.ts";
import { shownUrl } from "../kernel/shown-url.ts";

/** `--db=…`, and headers. The value of a header with any name may be a secret. */
const PAIR = /^(--?[\w.-]+=)(.+)$/s;
const HEADER = /^([A-Za-z][\w-]*: )(.+)$/s;
const ADDRESS = /^[a-z][a-z\d+.-]*:\/\//i;
/** Long words with digits that are no secrets: paths, package names, and image digests. */
const HARMLESS =
  /^(?:[.~]{0,2}[\\/]|[A-Za-z]:[\\/])|^@?(?:[a-z]+\d?|\d{1,8})(?:[-_./@:]+(?:[a-z]+\d?|\d{1,8}))*(?:@sha256:[\da-f]{64})?$/i;
/** `--api-key=…`, `TOKEN=…`, `Authorization: …` */
const NAMED = /^(-{0,2}([\w.-]+)\s*[=:]\s*)(.*)$/s;
/** A reference to a variable reveals nothing. */
const VARIABLE_ONLY = /^(?:\w+ )?\$\{[^}]*\}$/;

/** The command (as a shell command) or the URL of each usable server, by name. */
export async function targetsOf(config: Config): Promise<ReadonlyMap<string, string>> {
  const written = await entriesOf(config);
  return new Map(
    [...config.servers].map(([name, spec]) => {
      const entry = written[name];
      return [name, shownTarget(spec, isKeys(entry) ? entry : {})];
    }),
  );
}

/** The command or URL of a single entry, as written. */
export function entryTarget(entry: Keys): string {
  const { command, args, env, url, openapi, headers } = entry;
  if (typeof command !== "string")
    return maskOf(known(textsOf(headers)))(
      typeof openapi === "string" ? shownDocument(openapi) : shownAddress(String(url)),
    );
  const words = Array.isArray(args) ? args.map(String) : [];
  return shownCommand([command, ...words], textsOf(env));
}

function textsOf(map: unknown): readonly string[] {
  return isKeys(map) ? Object.values(map).map(String) : [];
}

/** A reference to a variable is shown as written. */
function known(values: readonly string[]): readonly string[] {
  return values.filter((value) => !value.includes("${"));
}

async function entriesOf({ path }: Config): Promise<Keys> {
  const text = await readConfigText(path);
  const parsed = text === undefined ? undefined : await parseText(text);
  const file = parsed && "value" in parsed ? parsed.value : undefined;
  const servers = isKeys(file) ? file["mcpServers"] : undefined;
  return isKeys(servers) ? servers : {};
}

function shownTarget(spec: ServerSpec, entry: Keys): string {
  if (spec.kind === "openapi") return maskFor(spec)(shownDocument(asWritten(entry["openapi"], spec.openapi)));
  if (spec.kind !== "stdio") return maskFor(spec)(shownUrl(asWritten(entry["url"], spec.url)));
  const written: unknown[] = Array.isArray(entry["args"]) ? entry["args"] : [];
  const args = spec.args.map((arg, at) => asWritten(written[at], arg));
  return shownCommand([asWritten(entry["command"], spec.command), ...args], Object.values(spec.env));
}

function shownCommand(
  [command = "", ...words]: readonly string[],
  values: Iterable<Secret | string>,
): string {
  const secrets = known(needlesOf(values));
  const hasSecret = (word: string): boolean => secrets.some((secret) => word.includes(secret));
  const shown = words.map((word, at) => {
    if (hasSecret(word)) return HIDDEN;
    const before = words[at - 1] ?? "";
    const isSecretValue = isSecretFlag(before) || (before === "-p" && couldBeSecret(word));
    return isSecretValue && !word.startsWith("-") ? hidden(word) : shownWord(word);
  });
  return [hasSecret(command) ? HIDDEN : shownWord(command), ...shown].map(shellWord).join(" ");
}

function couldBeSecret(value: string): boolean {
  return value.length >= 8 && !HARMLESS.test(value);
}

function isSecretFlag(word: string): boolean {
  return /^--?[\w-]+$/.test(word) && isSecretName(word);
}

/** Text that is not a URL may be a secret, so it is hidden. */
function shownAddress(url: string): string {
  return URL.canParse(url) || url.includes("${") ? shownUrl(url) : HIDDEN;
}

/** The address of a document, or the path of its file. */
function shownDocument(document: string): string {
  return ADDRESS.test(document) || document.includes("${") ? shownUrl(document) : document;
}

function asWritten(value: unknown, resolved: string): string {
  return typeof value === "string" ? value : resolved;
}

function hidden(value: string): string {
  return VARIABLE_ONLY.test(value) ? value : HIDDEN;
}

function shownWord(word: string): string {
  if (ADDRESS.test(word)) return shownUrl(word);
  const [, start, name = "", rest = ""] = NAMED.exec(word) ?? [];
  if (start !== undefined && isSecretName(name)) return `${start}${hidden(rest)}`;
  const header = HEADER.exec(word);
  if (header) return `${header[1]}${hidden(header[2] ?? "")}`;
  const [, flag, value = ""] = PAIR.exec(word) ?? [];
  if (flag !== undefined) return `${flag}${shownWord(value)}`;
  if (/^[[{]/.test(word)) return HIDDEN;
  if (hasSecretForm(word)) return HIDDEN;
  return isSecretText(word) && !HARMLESS.test(word) ? HIDDEN : word;
}
