/**
 * `metamcp import`: copies the servers of clients into the config. Shows no secret values and does not change
 * the files of clients.
 */
import { type Gathered, type GatheredServer, gather } from "../clients/gather.ts";
import { type Merged, merge } from "../clients/merge.ts";
import { allowWritten } from "../config/allowed.ts";
import { type FlagValues, UsageError } from "../config/command-line.ts";
import { ConfigError } from "../config/config-error.ts";
import { editJson } from "../config/edit.ts";
import { isKeys, type Keys, kindOf } from "../config/field.ts";
import { FLAGS as FLAGS_OF_RUN } from "../config/flags.ts";
import { readConfigText } from "../config/load.ts";
import { parseText } from "../config/parse.ts";
import { homeFolder } from "../home/home.ts";
import { containsSecret } from "../kernel/looks-secret.ts";
import { visible } from "../kernel/visible.ts";
import { galleryCandidates } from "../provision/gallery/gallery.ts";
import type { RegistrySource } from "../provision/registry/base.ts";
import { withKeepAlive } from "../provision/stateful-server.ts";
import { clientsNamed, machine } from "./clients.ts";
import type { Command } from "./command.ts";
import { canAsk, confirmed } from "./confirm.ts";
import { unsetVariables } from "./missing-variables.ts";
import { print } from "./print.ts";
import { show, table } from "./table.ts";
import { entryTarget } from "./target.ts";
import { TARGET_FILE_FLAGS, targetFile } from "./target-file.ts";

const FLAGS = {
  ...TARGET_FILE_FLAGS,
  yes: { kind: "switch", env: false, help: "Do not ask." },
  fromRegistry: {
    kind: "text",
    env: false,
    value: "url",
    help: "Copy the servers of this MCP registry instead. METAMCP_REGISTRY_TOKEN is its credential.",
  },
  registryToken: FLAGS_OF_RUN.registryToken,
  dryRun: { kind: "switch", env: false, help: "Only show what would be imported." },
} as const;

const KEPT_ALIVE = 'it holds a session, so its process is not ended when idle (lifecycle "keep-alive")';

export const command: Command = {
  name: "import",
  usage: "import [CLIENT …] | --from-registry URL",
  summary: "Copy the servers of your clients, or of a registry, into the config.",
  flags: FLAGS,
  takes: [0, Number.POSITIVE_INFINITY],
  async run(given) {
    const { settings, positionals } = given;
    const { yes, dryRun, json, fromRegistry, registryToken } = settings as unknown as FlagValues<
      typeof FLAGS
    > & { json: boolean };
    const config = targetFile(given);
    if (fromRegistry !== undefined && positionals.length > 0)
      throw new UsageError("Give either names of clients or --from-registry.");
    const read =
      fromRegistry === undefined
        ? await gather(clientsNamed(positionals), machine())
        : await registered({ url: fromRegistry, token: registryToken }, config);
    const gathered = { ...read, found: await completed(read.found) };
    const merged = merge(gathered.found, await serversOf(config));
    const anyNew = merged.taken.length > 0;
    if (!json) print(overview(gathered, merged, config));
    const agreed = anyNew && !dryRun && (yes || (!json && canAsk && (await confirmed(`Write ${config}?`))));
    const written = agreed ? await write(config, gathered.found) : [];
    const undecided = anyNew && !dryRun && !yes && (json || !canAsk);
    show(report(gathered, merged, config, written), json, () => outcome(written, config, undecided));
    if (undecided) return 2;
    return gathered.faults.length > 0 ? 1 : 0;
  },
};

async function registered(source: RegistrySource, config: string): Promise<Gathered> {
  const { gatherFromRegistry } = await import("./import-registry.ts");
  return await gatherFromRegistry(source, config);
}

/**
 * Keeps servers alive that hold a session, and says so. Names variables that the client's environment may
 * have had.
 */
async function completed(found: readonly GatheredServer[]): Promise<readonly GatheredServer[]> {
  const known = found.length > 0 ? await galleryCandidates() : [];
  return found.map((server) => {
    const entry = withKeepAlive(server.entry);
    const unset = unsetVariables(entry, known).join(", ");
    const notes = [
      ...(entry === server.entry ? [] : [KEPT_ALIVE]),
      ...(unset ? [`it needs ${unset}, which its entry does not set: add it to "env" or "inheritEnv"`] : []),
    ];
    return { ...server, entry, notes: [...server.notes, ...notes] };
  });
}

async function serversOf(config: string): Promise<Keys> {
  const text = await readConfigText(config);
  const parsed = text === undefined ? undefined : await parseText(text);
  return serversIn(parsed && "value" in parsed ? parsed.value : undefined);
}

function serversIn(file: unknown): Keys {
  const servers = isKeys(file) ? file["mcpServers"] : undefined;
  return isKeys(servers) ? servers : {};
}

/** Merges again with the content of the file at the time of writing. */
async function write(config: string, found: readonly GatheredServer[]): Promise<readonly string[]> {
  const home = homeFolder(process.env);
  let fresh: readonly (readonly [string, Keys])[] = [];
  const plan = (file: Keys): readonly { at: string[]; value: unknown }[] => {
    const { mcpServers } = file;
    if (mcpServers !== undefined && !isKeys(mcpServers)) {
      throw new ConfigError(config, `mcpServers is ${kindOf(mcpServers)}, not an object; fix it first`);
    }
    const { taken } = merge(found, serversIn(file));
    fresh = taken.map(({ as, entry }): [string, Keys] => [as, entry]);
    if (mcpServers) return fresh.map(([as, value]) => ({ at: ["mcpServers", as], value }));
    return fresh.length > 0 ? [{ at: ["mcpServers"], value: Object.fromEntries(fresh) }] : [];
  };
  await editJson(config, plan, { home, now: new Date() });
  await allowWritten(
    config,
    fresh.map(([, entry]) => entry),
    home,
  );
  return fresh.map(([name]) => name);
}

function overview(
  { found, skipped, faults, files, nothing, leftOut = [] }: Gathered,
  { taken, same }: Merged,
  config: string,
): string {
  const rows = taken.map((server) => [server.as, from(server), entryTarget(server.entry)]);
  const parts = [
    rows.length > 0 ? table(["SERVER", "FROM", "RUNS"], rows) : none(found.length, files.length, nothing),
    ...same.map(
      (server) =>
        `${server.name} (${from(server)}): already imported as "${server.as}"${server.otherRules ? ", which allows fewer tools" : ""}`,
    ),
    ...skipped.map((server) => `${visible(server.name)} (${from(server)}): skipped: ${server.reason}`),
    ...leftOut,
    ...taken.flatMap(({ as, notes }) => notes.map((note) => `${as}: ${note}`)),
    ...faults,
  ];
  if (/[\\/]\.mcp\.json$/.test(config) && taken.some(({ entry }) => containsSecret(entry))) {
    parts.push(
      `These entries may contain secrets, and ${config} may be shared. Without --here they are written to ~/.metamcp/mcp.json.`,
    );
  }
  const lines = parts.flatMap((part) => part.split("\n"));
  return lines.map((line) => visible(line)).join("\n");
}

function none(found: number, files: number, nothing: string | undefined): string {
  if (found > 0) return "Nothing new.";
  if (nothing !== undefined) return nothing;
  return files > 0 ? "The clients have no servers to import." : "Found no config file of a client.";
}

function from({ client, project }: GatheredServer | Gathered["skipped"][number]): string {
  return project === undefined ? client.title : `${client.title}, ${visible(project)}`;
}

function report(
  { skipped, faults, files, leftOut }: Gathered,
  { taken, same }: Merged,
  config: string,
  written: readonly string[],
) {
  const source = ({ client, file, name, project }: GatheredServer | Gathered["skipped"][number]) => ({
    name,
    client: client.id,
    file,
    project,
  });
  return {
    config,
    written,
    servers: taken.map((server) => ({
      ...source(server),
      as: server.as,
      runs: entryTarget(server.entry),
      notes: server.notes,
    })),
    same: same.map((server) => ({ ...source(server), as: server.as })),
    skipped: skipped.map((server) => ({ ...source(server), reason: server.reason })),
    faults,
    files,
    leftOut,
  };
}

function outcome(written: readonly string[], config: string, undecided: boolean): string {
  if (written.length > 0) {
    const count = `${written.length} ${written.length === 1 ? "server" : "servers"}`;
    return `\n${count} written to ${config}. Next: metamcp init`;
  }
  return undecided
    ? `\nNothing was written to ${config}: there is no terminal to ask on. To import without asking: metamcp import --yes`
    : "\nNothing was written.";
}
