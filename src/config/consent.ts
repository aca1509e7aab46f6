/**
 * Lists what a config file would run and connect to, for the user's consent. Pure; allowed.ts stores the
 * consent.
 */
import { createHash } from "node:crypto";
import { isPlainlySecretName } from "../kernel/looks-secret.ts";
import { isRunnerVariable } from "../kernel/runner-variables.ts";
import { HIDDEN, SHORTEST_SECRET } from "../kernel/secret.ts";
import { withHiddenSecrets } from "../kernel/secret-spans.ts";
import { shellWord } from "../kernel/shell-word.ts";
import { shownUrl } from "../kernel/shown-url.ts";
import { sortedKeys } from "../kernel/sorted-keys.ts";
import { visible } from "../kernel/visible.ts";
import { isKeys, type Keys } from "./field.ts";
import { keysWhere } from "./keys.ts";
import { secretReferences } from "./secret-reference.ts";
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
const RELEVANT_KEYS = keysWhere(({ effect }) => effect === "runs");
const API_KEYS: readonly string[] = ["openapi", "baseUrl"];

/** All enabled servers, the embedder, because texts of the user are sent to it, and folders of skills. */
export function consentItems(file: Keys): readonly ConsentItem[] {
  const { mcpServers, embedder, sandbox, skills } = file;
  const entries = Object.entries(isKeys(mcpServers) ? mcpServers : {});
  const servers = entries.flatMap(([name, entry]) =>
    isKeys(entry) && !isOff(entry)
      ? [serverItem(name, sandbox === undefined ? entry : { sandbox, ...entry })]
      : [],
  );
  return [
    ...servers,
    ...(embedder === undefined ? [] : [embedderItem(embedder)]),
    ...(skills === undefined ? [] : [skillsItem(skills)]),
  ];
}

/** Some other clients write `enabled: false`. */
export function isOff({ disabled, enabled }: Keys): boolean {
  return disabled === true || enabled === false;
}

/**
 * Does not contain the name: the same program with another name has the same digest. Without a sandbox and
 * an API it is the digest that versions without these made.
 */
export function digestOf(entry: Keys): string {
  const { sandbox, url, openapi } = entry;
  const runs = RELEVANT_KEYS.filter((key) => !API_KEYS.includes(key)).map((key) => entry[key]);
  if (openapi !== undefined) return digest([...runs, ...API_KEYS.map((key) => entry[key])]);
  return digest(sandbox === undefined || url !== undefined ? runs : [...runs, sandbox]);
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

/** What is in the folders instructs models. */
function skillsItem(skills: unknown): ConsentItem {
  const folders = (Array.isArray(skills) ? (skills as unknown[]) : [skills]).map(text);
  return {
    name: "skills",
    digest: digest(["skills", skills]),
    shown: [`gives models the skills in ${folders.map(word).join(" ")}`],
  };
}

function describe(entry: Keys): readonly string[] {
  const { command, args, env, cwd, url, openapi, baseUrl, headers, inheritEnv, sandbox } = entry;
  const words = [command, ...(Array.isArray(args) ? (args as unknown[]) : [])].map(text);
  const texts = textsIn(RELEVANT_KEYS.map((key) => entry[key]));
  const used = texts.flatMap((one) => references(one));
  const secrets = [...new Set(texts.flatMap(secretReferences).map(({ written }) => visible(written)))];
  const names = [...new Set(used.map(({ name }) => name))];
  return [
    openapi !== undefined
      ? `calls the API that ${address(openapi)} describes`
      : command === undefined
        ? `connects to ${address(url)}`
        : `runs ${words.map(word).join(" ")}`,
    ...(baseUrl === undefined ? [] : [`at ${address(baseUrl)}`]),
    ...(cwd === undefined ? [] : [`in the folder ${visible(text(cwd))}`]),
    ...(sandbox === undefined || command === undefined ? [] : [`with the sandbox ${visible(text(sandbox))}`]),
    ...pairs("with the variables", env),
    ...pairs("with the headers", headers),
    ...(names.length > 0 ? [`with the values of your variables ${names.join(", ")}`] : []),
    ...(secrets.length > 0 ? [`with your secrets ${secrets.join(", ")}`] : []),
    ...(inheritEnv === true ? ["with your whole environment"] : []),
    ...(Array.isArray(inheritEnv) && inheritEnv.length > 0
      ? [`with your variables ${inheritEnv.map((name) => visible(text(name))).join(", ")}`]
      : []),
  ];
}

function pairs(label: string, map: unknown): readonly string[] {
  if (!isKeys(map) || Object.keys(map).length === 0) return [];
  const shown = Object.entries(map).map(([name, value]) => {
    return `${visible(name)}=${shownPair(name, text(value))}`;
  });
  return [`${label} ${shown.join(" ")}`];
}

/**
 * Whoever wrote the file must not be able to hide what runs: of a value that decides it, only secrets in it
 * are hidden.
 */
function shownPair(name: string, value: string): string {
  if (value.length < SHORTEST_SECRET) return word(value);
  const decides = (isRunnerVariable(name) || name === "ENV") && !isPlainlySecretName(name);
  return decides ? word(withHiddenSecrets(value)) : HIDDEN;
}

/** Each word is shortened by itself, so that a long one does not hide those after it. */
function word(value: string): string {
  return visible(shellWord(value));
}

function address(url: unknown): string {
  return visible(shownUrl(text(url)));
}

function text(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

function digest(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value, sortedKeys)).digest("hex");
}
