/** What `metamcp add` would write: an entry from the gallery, or one that was spelled out. Looks at no config. */
import { UsageError } from "../config/command-line.ts";
import { references } from "../config/variables.ts";
import type { Env } from "../home/home.ts";
import { didYouMean, nearest } from "../kernel/nearest.ts";
import type { Candidate, Entry, Variable } from "../provision/candidate.ts";
import { fill } from "../provision/gallery/fill.ts";
import { galleryCandidates, galleryCategories, suggestions } from "../provision/gallery/gallery.ts";
import { planOf } from "../provision/plan.ts";
import { entryTarget } from "./target.ts";

export interface Addition {
  readonly name: string;
  readonly entry: Entry;
  /** How it is reached, without the values that were given. */
  readonly runs: string;
  /** Must be set before it can start. */
  readonly missing: readonly Variable[];
  /** Undefined where the user spelled the entry out. */
  readonly candidate: Candidate | undefined;
}

export interface Spelled {
  /** The command and its arguments. */
  readonly command: readonly string[];
  readonly url: string | undefined;
  readonly headers: readonly string[];
}

/** Throws if one of the names is unknown, or a value has no place. */
export async function fromGallery(
  names: readonly string[],
  values: ReadonlyMap<string, string>,
  env: Env,
): Promise<readonly Addition[]> {
  const all = new Map((await galleryCandidates()).map((candidate) => [candidate.name, candidate]));
  const unknown = names.filter((name) => !all.has(name.toLowerCase()));
  if (unknown.length > 0) throw new Error((await Promise.all(unknown.map(notThere))).join("\n"));
  const chosen = [...new Set(names.map((name) => all.get(name.toLowerCase())))].filter(
    (one) => one !== undefined,
  );
  checkPlaces(chosen, values);
  return chosen.map((candidate) =>
    additionOf(candidate, chosen.length === 1 ? values : own(candidate, values), env),
  );
}

async function notThere(name: string): Promise<string> {
  const alike = await suggestions(name);
  const [category] = nearest(name, await galleryCategories(), 1);
  const list = category === undefined ? "--list" : `--category ${category}`;
  const hint =
    alike.length > 0
      ? `Did you mean ${alike.map((one) => `"${one}"`).join(" or ")}?`
      : `To list them all: metamcp add ${list}`;
  return `There is no "${name}" in the gallery. ${hint} To add a server that is not in it: metamcp add ${name} -- COMMAND …, or --url URL`;
}

/** A local server that is alone may be given any variable; a container passes on only those it is told of. */
function checkPlaces(chosen: readonly Candidate[], values: ReadonlyMap<string, string>): void {
  const known = new Set(chosen.flatMap(({ variables }) => variables.map(({ name }) => name)));
  const [only] = chosen;
  if (chosen.length === 1 && only && "command" in only.entry && only.entry.command !== "docker") return;
  for (const name of values.keys()) {
    if (known.has(name)) continue;
    const whose = chosen.map((one) => one.name).join(", ");
    throw new UsageError(`${whose}: there is no variable ${name}.${didYouMean(name, known)}`);
  }
}

function own({ variables }: Candidate, values: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  return new Map([...values].filter(([name]) => variables.some((one) => one.name === name)));
}

function additionOf(candidate: Candidate, values: ReadonlyMap<string, string>, env: Env): Addition {
  const { name, variables, entry } = candidate;
  const optional = new Set(variables.filter(({ required }) => !required).map((one) => one.name));
  // Of what is optional only what was given: MetaMCP may be started where it is not set.
  const required = Object.fromEntries(Object.entries(env).filter(([one]) => !optional.has(one)));
  const bare = planOf(candidate, required).entry;
  const filled = planOf({ ...candidate, entry: fill(entry, values).entry }, required).entry;
  return {
    name,
    entry: filled,
    runs: entryTarget({ ...bare }),
    missing: unset(filled, env, variables),
    candidate,
  };
}

/** A server that is in no gallery. */
export function spelledOut(
  name: string,
  { command, url, headers }: Spelled,
  values: ReadonlyMap<string, string>,
  env: Env,
): Addition {
  const [program, ...args] = command;
  const bare: Entry =
    url === undefined
      ? { command: program ?? "", args }
      : {
          type: "http",
          url,
          ...(headers.length > 0 && { headers: Object.fromEntries(headers.map(header)) }),
        };
  const { entry, unused } = fill(bare, values);
  if (unused.length > 0)
    throw new UsageError(`A remote server has no variables: ${unused.join(", ")}. Use --header.`);
  return {
    name,
    entry,
    runs: entryTarget({ ...bare }),
    missing: unset(entry, env, []),
    candidate: undefined,
  };
}

function header(written: string): readonly [string, string] {
  const [, name, value] = /^([\w-]+)\s*[:=]\s*(.+)$/s.exec(written) ?? [];
  if (name !== undefined && value !== undefined) return [name, value];
  throw new UsageError('--header is malformed: write it as "Name: value".');
}

/** The variables an entry needs and nobody has set. */
function unset(entry: Entry, env: Env, known: readonly Variable[]): readonly Variable[] {
  const wanted = textsOf(entry).flatMap((text) => references(text));
  const names = wanted.flatMap(({ name, hasDefault }) => (hasDefault || env[name] ? [] : [name]));
  return [...new Set(names)].map(
    (name) => known.find((one) => one.name === name) ?? { name, required: true, secret: false },
  );
}

function textsOf(entry: Entry): readonly string[] {
  return "command" in entry
    ? [entry.command, ...entry.args, ...Object.values(entry.env ?? {})]
    : [entry.url, ...Object.values(entry.headers ?? {})];
}
