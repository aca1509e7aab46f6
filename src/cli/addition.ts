/**
 * The entry that `metamcp add` writes: from the gallery, or from a command or URL on the command line. Does
 * not read the config.
 */
import { resolve } from "node:path";
import { UsageError } from "../config/command-line.ts";
import { references } from "../config/variables.ts";
import type { Env } from "../home/home.ts";
import { didYouMean, nearest } from "../kernel/nearest.ts";
import { addressesOf, type Candidate, type Entry, type Variable } from "../provision/candidate.ts";
import { fill } from "../provision/gallery/fill.ts";
import { galleryCandidates, galleryCategories, suggestions } from "../provision/gallery/gallery.ts";
import { planOf } from "../provision/plan.ts";
import { withKeepAlive } from "../provision/stateful-server.ts";
import { entryTarget } from "./target.ts";

export interface Addition {
  readonly name: string;
  readonly entry: Entry;
  /** The command or URL, without the given values of variables. */
  readonly runs: string;
  /** Variables that must be set before the server can start. */
  readonly missing: readonly Variable[];
  /** The gallery entry; undefined for a command or URL. */
  readonly candidate: Candidate | undefined;
  /** Why a local server will not be confined. */
  readonly unconfined?: string;
}

export interface CommandLineServer {
  /** The command and its arguments. */
  readonly command: readonly string[];
  readonly url: string | undefined;
  /** The address or the path of the document of an API. */
  readonly openapi: string | undefined;
  readonly baseUrl: string | undefined;
  readonly headers: readonly string[];
}

/** Throws if a name is unknown or a given variable does not belong to any of the servers. */
export async function fromGallery(
  names: readonly string[],
  values: ReadonlyMap<string, string>,
  env: Env,
): Promise<readonly Addition[]> {
  const all = new Map((await galleryCandidates()).map((candidate) => [candidate.name, candidate]));
  const unknown = names.filter((name) => !all.has(name.toLowerCase()));
  if (unknown.length > 0) throw new Error((await Promise.all(unknown.map(unknownServerText))).join("\n"));
  const chosen = [...new Set(names.map((name) => all.get(name.toLowerCase())))].filter(
    (one) => one !== undefined,
  );
  checkVariables(chosen, values);
  return chosen.map((candidate) =>
    additionOf(candidate, chosen.length === 1 ? values : valuesFor(candidate, values), env),
  );
}

async function unknownServerText(name: string): Promise<string> {
  const alike = await suggestions(name);
  const [category] = nearest(name, await galleryCategories(), 1);
  const list = category === undefined ? "--list" : `--category ${category}`;
  const hint =
    alike.length > 0
      ? ` Did you mean ${alike.map((one) => `"${one}"`).join(" or ")}?`
      : `\nTo list them all: metamcp add ${list}`;
  return `There is no "${name}" in the gallery.${hint}\nTo add a server that is not in it: metamcp add ${name} -- COMMAND …, or --url URL`;
}

/**
 * A single local server may get any variable. A container gets only the variables in its arguments, so others
 * are refused.
 */
function checkVariables(chosen: readonly Candidate[], values: ReadonlyMap<string, string>): void {
  const known = new Set(chosen.flatMap(({ variables }) => variables.map(({ name }) => name)));
  const [only] = chosen;
  if (chosen.length === 1 && only && "command" in only.entry && only.entry.command !== "docker") return;
  for (const name of values.keys()) {
    if (known.has(name)) continue;
    const whose = chosen.map((one) => one.name).join(", ");
    throw new UsageError(`${whose}: there is no variable ${name}.${didYouMean(name, known)}`);
  }
}

function valuesFor(
  { variables }: Candidate,
  values: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  return new Map([...values].filter(([name]) => variables.some((one) => one.name === name)));
}

function additionOf(candidate: Candidate, values: ReadonlyMap<string, string>, env: Env): Addition {
  const { name, variables, entry } = candidate;
  const optional = new Set(variables.filter(({ required }) => !required).map((one) => one.name));
  // Optional variables are written only if they were given, because they may be unset where MetaMCP starts.
  const required = Object.fromEntries(Object.entries(env).filter(([one]) => !optional.has(one)));
  const bare = planOf(candidate, required).entry;
  const filled = planOf({ ...candidate, entry: fill(entry, values).entry }, required).entry;
  return {
    name,
    entry: filled,
    runs: entryTarget({ ...bare }),
    missing: unsetVariables(filled, env, variables),
    candidate,
  };
}

/** An entry for a server that is not in the gallery. */
export function fromCommandLine(
  name: string,
  { command, url, openapi, baseUrl, headers }: CommandLineServer,
  values: ReadonlyMap<string, string>,
  env: Env,
): Addition {
  const [program, ...args] = command;
  const sent = headers.length > 0 && { headers: Object.fromEntries(headers.map(readHeader)) };
  const bare: Entry =
    openapi !== undefined
      ? { openapi: documentOf(openapi), ...(baseUrl !== undefined && { baseUrl }), ...sent }
      : url === undefined
        ? withKeepAlive({ command: program ?? "", args })
        : { type: "http", url, ...sent };
  const { entry, unused } = fill(bare, values);
  if (unused.length > 0)
    throw new UsageError(`A remote server has no variables: ${unused.join(", ")}. Use --header.`);
  return {
    name,
    entry,
    runs: entryTarget({ ...entry, ...bare }),
    missing: unsetVariables(entry, env, []),
    candidate: undefined,
  };
}

/** A path would be relative to the config file, not to this folder. */
function documentOf(openapi: string): string {
  return /^https?:|\$\{/i.test(openapi) ? openapi : resolve(openapi);
}

function readHeader(written: string): readonly [string, string] {
  const [, name, value] = /^([\w-]+)\s*[:=]\s*(.+)$/s.exec(written) ?? [];
  if (name !== undefined && value !== undefined) return [name, value];
  throw new UsageError('--header is malformed: write it as "Name: value".');
}

/** The variables that an entry references and that are not set. */
function unsetVariables(entry: Entry, env: Env, known: readonly Variable[]): readonly Variable[] {
  const used = stringsIn(entry).flatMap((text) => references(text));
  const names = used.flatMap(({ name, hasDefault }) => (hasDefault || env[name] ? [] : [name]));
  return [...new Set(names)].map(
    (name) => known.find((one) => one.name === name) ?? { name, required: true, secret: false },
  );
}

function stringsIn(entry: Entry): readonly string[] {
  return "command" in entry
    ? [entry.command, ...entry.args, ...Object.values(entry.env ?? {})]
    : [...addressesOf(entry), ...Object.values(entry.headers ?? {})];
}
