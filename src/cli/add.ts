/** `metamcp add`: writes servers into the config. Starts nothing and needs no network. */
import { existsSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { allowWritten, FOUND_NAME } from "../config/allowed.ts";
import { type FlagValues, type Table, UsageError } from "../config/command-line.ts";
import { type AddedEntries, addServers } from "../config/edit-servers.ts";
import { shownSandbox } from "../config/sandbox.ts";
import { checkServer } from "../config/server.ts";
import type { ReadSettings } from "../config/settings.ts";
import { homeFolder } from "../home/home.ts";
import { didYouMean } from "../kernel/nearest.ts";
import type { Variable } from "../provision/candidate.ts";
import { sandboxOfFile } from "../provision/config-file-writer.ts";
import { confined } from "../provision/confined.ts";
import { galleryCandidates, galleryCategories } from "../provision/gallery/gallery.ts";
import type { NewSandbox } from "../provision/new-sandbox.ts";
import { type Addition, fromCommandLine, fromGallery } from "./addition.ts";
import { askSecret } from "./ask-secret.ts";
import type { Command, ExitCode } from "./command.ts";
import { printError } from "./print.ts";
import { show, table } from "./table.ts";
import { TARGET_FILE_FLAGS, targetFile } from "./target-file.ts";

const flags = {
  ...TARGET_FILE_FLAGS,
  list: { kind: "switch", env: false, help: "List the servers that can be added by name." },
  category: { kind: "text", env: false, value: "name", help: "List one category of them." },
  env: {
    kind: "list",
    commas: false,
    env: false,
    value: "NAME=value",
    help: "Set a variable; can be repeated.",
  },
  secret: {
    kind: "text",
    env: false,
    value: "NAME",
    help: "Ask for the value of a variable and keep it in the keychain; the config refers to it.",
  },
  url: { kind: "text", env: false, value: "url", help: "Add a remote server under NAME." },
  noSandbox: { kind: "switch", env: false, help: "Do not confine the servers." },
  openapi: {
    kind: "text",
    env: false,
    value: "url",
    help: "Add the HTTP API of an OpenAPI document (URL or file) under NAME.",
  },
  baseUrl: { kind: "text", env: false, value: "url", help: "With --openapi: the address of the API." },
  header: {
    kind: "list",
    commas: false,
    env: false,
    value: "header",
    help: 'With --url or --openapi: a header "Name: value"; can be repeated.',
  },
} as const satisfies Table;

/** A name that is valid in every client, file system and tool id. */
const NAME = /^[A-Za-z0-9][\w.-]{0,63}$/;

export const command: Command = {
  name: "add",
  usage: "add NAME… | NAME -- COMMAND … | NAME --url URL | NAME --openapi URL | --list",
  summary:
    "Add servers to the config: by name from the gallery, or with a command, a URL or an OpenAPI document. Starts nothing.",
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
  const path = targetFile(given);
  const where = {
    folder: dirname(path),
    env: process.env,
    sandbox: { default: await sandboxOfFile(path) },
  };
  const { noSandbox, secret } = given.settings as unknown as FlagValues<typeof flags>;
  const withSandbox = noSandbox
    ? unconfined
    : (addition: Addition) => ({ ...addition, ...confined(addition.entry, where) });
  const additions = (await additionsOf(given)).map(withSandbox);
  for (const addition of additions) check(addition, path);
  if (secret !== undefined) await keepSecret(secret, additions);
  const entries = new Map(additions.map(({ name, entry }) => [name, entry]));
  const done = await addServers(path, entries, { home, now: new Date() });
  const added = additions.filter(({ name }) => done.added.includes(name));
  await allowWritten(
    path,
    added.map(({ entry }) => entry),
    home,
  );
  const result = {
    config: path,
    added: added.map(({ name, runs, missing, entry, unconfined: because }) => ({
      name,
      runs,
      missing: missing.map((one) => one.name),
      ...("command" in entry && { sandbox: entry.sandbox ?? false }),
      ...(because !== undefined && { unconfined: because }),
    })),
    present: [...done.same, ...done.other],
    copy: done.copy,
  };
  show(result, given.settings.json, () => forPeople(added, done, path));
  for (const line of [...added.flatMap(warningsFor), ...otherFileWarning(path)]) printError(line);
  return done.other.length === 0 || !givesSettings(given) ? 0 : 1;
}

async function additionsOf(given: ReadSettings<Table>): Promise<readonly Addition[]> {
  const { positionals, beforeDashes } = given;
  const {
    env: pairs,
    url,
    openapi,
    baseUrl,
    header: headers,
    secret,
  } = given.settings as unknown as FlagValues<typeof flags>;
  const values = new Map(pairs.map(readPair));
  const names = positionals.slice(0, beforeDashes);
  if (secret !== undefined) values.set(secret, `\${keychain:${keychainName(names, secret)}}`);
  const program = positionals.slice(names.length);
  const isRemote = url !== undefined || openapi !== undefined;
  if (!isRemote && headers.length > 0) throw new UsageError("--header needs --url or --openapi.");
  if (openapi === undefined && baseUrl !== undefined) throw new UsageError("--base-url needs --openapi.");
  if (!isRemote && beforeDashes === undefined) return await fromGallery(names, values, process.env);
  const [name] = names;
  if (name === undefined || names.length > 1)
    throw new UsageError("Give one name: metamcp add NAME -- COMMAND …, --url URL, or --openapi URL.");
  if ([url !== undefined, openapi !== undefined, program.length > 0].filter(Boolean).length !== 1)
    throw new UsageError("Give one of these: a command behind --, --url, or --openapi.");
  return [fromCommandLine(name, { command: program, url, openapi, baseUrl, headers }, values, process.env)];
}

/** Each server has secrets of its own, also if their variables have the same name. */
function keychainName(servers: readonly string[], secret: string): string {
  const [server] = servers;
  if (server === undefined || servers.length > 1)
    throw new UsageError("--secret belongs to one server: give one name.");
  if (!/^[A-Za-z_]\w*$/.test(secret)) throw new UsageError("--secret needs the name of a variable.");
  return `${server}/${secret}`;
}

/** Before the config is written, so that no entry refers to a secret that is not there. */
async function keepSecret(secret: string, additions: readonly Addition[]): Promise<void> {
  const [name, value] = [
    keychainName(
      additions.map((one) => one.name),
      secret,
    ),
    await askSecret(`Value of ${secret}`),
  ];
  const { storeInKeychain } = await import("../secret-sources/keychain.ts");
  await storeInKeychain(name, value.trim());
}

function readPair(written: string): readonly [string, string] {
  const [, name, value] = /^([A-Za-z_]\w*)=(.*)$/s.exec(written) ?? [];
  if (name !== undefined && value !== undefined) return [name, value];
  throw new UsageError("--env is malformed: write it as NAME=value.");
}

/** Also where the file has a sandbox for all servers. */
function unconfined(addition: Addition): Addition {
  const { entry } = addition;
  if (!("command" in entry)) return addition;
  return { ...addition, entry: { ...entry, sandbox: false }, unconfined: "you said --no-sandbox" };
}

/** Throws if the config would refuse the entry. */
function check({ name, entry, missing }: Addition, path: string): void {
  if (!NAME.test(name))
    throw new UsageError(`"${name}" cannot be the name of a server: use letters, digits, "-", "_" and ".".`);
  // An entry with unset variables cannot be checked yet.
  if (missing.length > 0) return;
  const isGuarded = basename(path) === FOUND_NAME;
  const { result } = checkServer(name, entry, { path, isGuarded, folder: dirname(path), env: process.env });
  if (result !== "disabled" && "reason" in result) throw new UsageError(`${name}: ${result.reason}`);
}

/** Whether the user gave settings. Then an existing entry with other settings is a failure. */
function givesSettings({ given, beforeDashes }: ReadSettings<Table>): boolean {
  return (
    beforeDashes !== undefined ||
    given.has("env") ||
    given.has("secret") ||
    given.has("url") ||
    given.has("openapi")
  );
}

function forPeople(added: readonly Addition[], { same, other }: AddedEntries, path: string): string {
  const lines = added.flatMap(({ name, runs, entry, unconfined: because }) => [
    `+ ${name}  ${runs}`,
    ...("command" in entry ? [`  ${plannedSandbox(entry.sandbox, because)}`] : []),
    ...("lifecycle" in entry
      ? [`  It holds a session, so its process is not ended when idle (lifecycle "${entry.lifecycle}").`]
      : []),
  ]);
  const existing = same.map((name) => `= ${name}  already exists`);
  const differs = other.map(
    (name) =>
      `= ${name}  already exists with other settings; remove it first to replace it: metamcp remove ${name}`,
  );
  const end =
    added.length > 0 ? `Written to ${path}. Check them with: metamcp doctor` : `Nothing to do in ${path}.`;
  return [...lines, ...existing, ...differs, end].join("\n");
}

function plannedSandbox(sandbox: NewSandbox | false | undefined, because: string | undefined): string {
  if (sandbox === undefined && because === undefined)
    return 'It is confined by the "sandbox" of the file, which is for all servers.';
  if (!sandbox) return `It is not confined and may touch everything that you may: ${because}.`;
  const { read = [], write = [], network = "all" } = sandbox === true ? {} : sandbox;
  const touches = shownSandbox({ read, write, network });
  return `It is confined: ${touches}. To change that, edit its "sandbox", or add it with --no-sandbox.`;
}

/**
 * A warning if this folder has its own config file, because MetaMCP then ignores the file that was written.
 */
function otherFileWarning(path: string): readonly string[] {
  const found = resolve(FOUND_NAME);
  return path === found || !existsSync(found)
    ? []
    : [`! In this folder MetaMCP uses ${found} instead. To add servers to that file: metamcp add --here`];
}

function warningsFor({ name, missing, candidate, runs }: Addition): readonly string[] {
  const unchecked = candidate && !candidate.verified && candidate.version !== undefined;
  return [
    ...missing.map((variable) => `! ${name} needs ${describeVariable(variable)}`),
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

function describeVariable({ name, description, secret }: Variable): string {
  return `${name}${secret ? " (a secret)" : ""}${description ? `: ${description}` : ""}`;
}
