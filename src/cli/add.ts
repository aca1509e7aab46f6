/** `metamcp add`: writes servers into the config. Starts nothing and needs no network. */
import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { allowWritten, FOUND_NAME } from "../config/allowed.ts";
import { type FlagValues, type Table, UsageError } from "../config/command-line.ts";
import { type AddedEntries, addServers } from "../config/edit-servers.ts";
import { checkServer } from "../config/server.ts";
import type { ReadSettings } from "../config/settings.ts";
import { homeFolder } from "../home/home.ts";
import { didYouMean } from "../kernel/nearest.ts";
import type { Variable } from "../provision/candidate.ts";
import { galleryCandidates, galleryCategories } from "../provision/gallery/gallery.ts";
import { type Addition, fromGallery, spelledOut } from "./addition.ts";
import type { Command, ExitCode } from "./command.ts";
import { HERE, targetFile } from "./here.ts";
import { show, table } from "./table.ts";

const flags = {
  ...HERE,
  list: { kind: "switch", env: false, help: "List the servers that can be added by name." },
  category: { kind: "text", env: false, value: "name", help: "List one category of them." },
  env: {
    kind: "list",
    commas: false,
    env: false,
    value: "NAME=value",
    help: "Set a variable; can be repeated.",
  },
  url: { kind: "text", env: false, value: "url", help: "Add a remote server under NAME." },
  header: {
    kind: "list",
    commas: false,
    env: false,
    value: "header",
    help: 'With --url: a header "Name: value"; can be repeated.',
  },
} as const satisfies Table;

/** A name that every client, file system and tool id can live with. */
const NAME = /^[A-Za-z0-9][\w.-]{0,63}$/;

export const command: Command = {
  name: "add",
  usage: "add NAME… | NAME -- COMMAND … | NAME --url URL | --list",
  summary: "Add servers to the config: by name from the gallery, or with a command or URL. Starts nothing.",
  flags,
  takes: [0, Number.POSITIVE_INFINITY],
  async run(given) {
    const { list, category } = given.settings as unknown as FlagValues<typeof flags>;
    if (list || category !== undefined) return await browse(given, category);
    if (given.positionals.length === 0) throw new UsageError(`Usage: metamcp ${command.usage}`);
    return await add(given);
  },
};

async function browse(
  { positionals, settings }: ReadSettings<Table>,
  category: string | undefined,
): Promise<ExitCode> {
  if (positionals.length > 0) throw new UsageError("--list and --category take no names.");
  const categories = await galleryCategories();
  if (category !== undefined && !categories.includes(category)) {
    const hint = didYouMean(category, categories) || ` There are: ${categories.join(", ")}.`;
    throw new UsageError(`There is no category "${category}".${hint}`);
  }
  const all = await galleryCandidates();
  const shown = all.filter((one) => category === undefined || one.category === category);
  show({ servers: shown.map(listed) }, settings.json, () => {
    const rows = shown.map((one) => [one.name, one.category, one.description]);
    return `${table(["NAME", "CATEGORY", "WHAT IT IS FOR"], rows)}\n\nAdd one with: metamcp add NAME`;
  });
  return 0;
}

function listed({
  name,
  category,
  description,
  version,
  verified,
  variables,
  link,
}: Awaited<ReturnType<typeof galleryCandidates>>[number]) {
  return { name, category, description, version, verified, variables, link };
}

async function add(given: ReadSettings<Table>): Promise<ExitCode> {
  const home = homeFolder(process.env);
  const additions = await additionsOf(given);
  const path = targetFile(given);
  for (const addition of additions) check(addition, path);
  const entries = new Map(additions.map(({ name, entry }) => [name, entry]));
  const done = await addServers(path, entries, { home, now: new Date() });
  const fresh = additions.filter(({ name }) => done.added.includes(name));
  await allowWritten(
    path,
    fresh.map(({ entry }) => entry),
    home,
  );
  const answer = {
    config: path,
    added: fresh.map(({ name, runs, missing }) => ({ name, runs, missing: missing.map((one) => one.name) })),
    present: [...done.same, ...done.other],
    copy: done.copy,
  };
  show(answer, given.settings.json, () => forPeople(fresh, done, path));
  for (const line of [...fresh.flatMap(remarks), ...otherFile(path)]) process.stderr.write(`${line}\n`);
  return done.other.length === 0 || !isParticular(given) ? 0 : 1;
}

async function additionsOf(given: ReadSettings<Table>): Promise<readonly Addition[]> {
  const { positionals, beforeDashes } = given;
  const { env: pairs, url, header: headers } = given.settings as unknown as FlagValues<typeof flags>;
  const values = new Map(pairs.map(pair));
  const names = positionals.slice(0, beforeDashes);
  const program = positionals.slice(names.length);
  if (url === undefined && headers.length > 0) throw new UsageError("--header needs --url.");
  if (url === undefined && beforeDashes === undefined) return await fromGallery(names, values, process.env);
  const [name] = names;
  if (name === undefined || names.length > 1)
    throw new UsageError("Give one name: metamcp add NAME -- COMMAND …, or --url URL.");
  if ((url === undefined) === (program.length === 0))
    throw new UsageError("Give either a command behind -- or --url.");
  return [spelledOut(name, { command: program, url, headers }, values, process.env)];
}

function pair(written: string): readonly [string, string] {
  const [, name, value] = /^([A-Za-z_]\w*)=(.*)$/s.exec(written) ?? [];
  if (name !== undefined && value !== undefined) return [name, value];
  throw new UsageError("--env is malformed: write it as NAME=value.");
}

/** What the config would refuse is not written into it. */
function check({ name, entry, missing }: Addition, path: string): void {
  if (!NAME.test(name))
    throw new UsageError(`"${name}" cannot be the name of a server: use letters, digits, "-", "_" and ".".`);
  // What is to be set later cannot be judged now.
  if (missing.length > 0) return;
  const { result } = checkServer(name, entry, { path, folder: dirname(path), env: process.env });
  if (result !== "disabled" && "reason" in result) throw new UsageError(`${name}: ${result.reason}`);
}

/** Whoever names a server is content with the one that is there; whoever says how it is to be is not. */
function isParticular({ given, beforeDashes }: ReadSettings<Table>): boolean {
  return beforeDashes !== undefined || given.has("env") || given.has("url");
}

function forPeople(fresh: readonly Addition[], { same, other }: AddedEntries, path: string): string {
  const lines = fresh.map(({ name, runs }) => `+ ${name}  ${runs}`);
  const there = same.map((name) => `= ${name}  already exists`);
  const differs = other.map(
    (name) =>
      `= ${name}  already exists with other settings; remove it first to replace it: metamcp remove ${name}`,
  );
  const end =
    fresh.length > 0 ? `Written to ${path}. Check them with: metamcp doctor` : `Nothing to do in ${path}.`;
  return [...lines, ...there, ...differs, end].join("\n");
}

/** In a folder with a file of its own that one is used, and what was written elsewhere is not seen. */
function otherFile(path: string): readonly string[] {
  const found = resolve(FOUND_NAME);
  return path === found || !existsSync(found)
    ? []
    : [`! In this folder MetaMCP uses ${found} instead. To add servers to that file: metamcp add --here`];
}

function remarks({ name, missing, candidate, runs }: Addition): readonly string[] {
  const unchecked = candidate && !candidate.verified && candidate.version !== undefined;
  return [
    ...missing.map((variable) => `! ${name} needs ${needed(variable)}`),
    ...(missing.length > 0
      ? [
          `  Set ${missing.length > 1 ? "them" : "it"} where MetaMCP is started, or in the file in place of \${…}.`,
        ]
      : []),
    ...(unchecked
      ? [`! ${name} is not verified: nobody checked that "${runs}" exists. See ${candidate.link} first.`]
      : []),
  ];
}

function needed({ name, description, secret }: Variable): string {
  return `${name}${secret ? " (a secret)" : ""}${description ? `: ${description}` : ""}`;
}
