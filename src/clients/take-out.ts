/**
 * Removes servers from a client's list that MetaMCP runs too, so that the client uses them only through
 * MetaMCP. Nothing is lost: a server that MetaMCP would run differently stays. Every edit can be undone.
 */
import { isOff } from "../config/consent.ts";
import { isKeys, type Keys } from "../config/field.ts";
import type { ClientProgram, Machine, WrittenServer } from "./client.ts";
import { type ClientFile, faultOf, readBytes, textOf } from "./client-file.ts";
import type { ConnectPlan } from "./connect.ts";
import { type EditOptions, editClientFile, type NewText } from "./edit-client-file.ts";
import type { KeyPath } from "./edit-records.ts";
import { formatOf } from "./format-of.ts";
import { alsoRead } from "./gather.ts";
import { rulesOf, twinsOf } from "./merge.ts";
import { isMetaMcp, METAMCP_NAME } from "./metamcp-entry.ts";
import { valueAt } from "./servers.ts";
import { translate } from "./translate.ts";
import { unifiedDiff } from "./unified-diff.ts";

/** A server in a client's file. Without a path it cannot be removed safely. */
interface LocatedServer extends WrittenServer {
  readonly at?: KeyPath | undefined;
}

/** The entries of our config. */
export interface OurEntries {
  readonly usable: Keys;
  readonly broken: Keys;
  /** Why the broken ones cannot be used, by name. */
  readonly reasons: ReadonlyMap<string, string>;
}

interface Kept {
  readonly name: string;
  readonly reason: string;
}

export interface OtherServers {
  /** Names of servers that MetaMCP runs too. */
  readonly doubled: readonly string[];
  /** Names of servers that only the client has. */
  readonly only: readonly string[];
  /** Servers that MetaMCP has too but cannot run, with the reason. */
  readonly blocked: readonly Kept[];
  /** Servers that must stay in the client, with the reason. */
  readonly kept: readonly Kept[];
}

type Fate =
  | { readonly kind: "doubled" | "only" | "off" }
  | { readonly kind: "blocked" | "kept"; readonly reason: string };

/** The servers that the client lists in addition to MetaMCP, in all of its files. */
export async function otherServersOf(
  { client, file }: ClientFile,
  ours: OurEntries,
  machine: Machine,
): Promise<OtherServers> {
  const bytes = await readBytes(file);
  const doc = bytes ? await (await formatOf(file)).parse({ path: file, text: textOf(bytes, file) }) : {};
  const found = { doubled: [] as string[], only: [] as string[], blocked: [] as Kept[], kept: [] as Kept[] };
  const sort = (server: LocatedServer, place: string): void => {
    const { name } = server;
    const fate = fateOf(server, client, { ours, place });
    if (fate.kind === "doubled" || fate.kind === "only") found[fate.kind].push(name);
    else if ("reason" in fate) found[fate.kind].push({ name, reason: fate.reason });
  };
  for (const server of serversWithPaths(client, doc)) sort(server, file);
  for (const other of await alsoRead(client, machine)) {
    if (other.file === file) continue;
    if ("fault" in other) found.kept.push({ name: other.file, reason: other.fault });
    else for (const server of other.servers) if (!isMetaMcp(server.entry)) sort(server, other.file);
  }
  return found;
}

/** Undefined if there is nothing to remove. */
export async function planTakeOut(
  clientFile: ClientFile,
  ours: OurEntries,
): Promise<ConnectPlan | undefined> {
  const { file } = clientFile;
  try {
    const bytes = await readBytes(file);
    if (!bytes) return undefined;
    const before = textOf(bytes, file);
    const { after } = await withoutDoubled(clientFile, before, ours);
    if (after === before) return undefined;
    return { state: "change", diff: unifiedDiff({ path: file, before, after, shown: [] }) };
  } catch (error) {
    return { state: "fault", message: faultOf(error, file) };
  }
}

export async function takeOut(
  clientFile: ClientFile,
  ours: OurEntries,
  options: EditOptions,
): Promise<boolean> {
  return await editClientFile(clientFile, (text) => withoutDoubled(clientFile, text, ours), options);
}

async function withoutDoubled(
  { client, file }: ClientFile,
  text: string,
  ours: OurEntries,
): Promise<NewText> {
  const format = await formatOf(file);
  const doc = await format.parse({ path: file, text });
  // Without an entry for MetaMCP the client would lose these servers.
  if (!isMetaMcp(valueAt(doc, [...client.at(doc), METAMCP_NAME]))) return { after: text };
  const taken = serversWithPaths(client, doc).flatMap((server) =>
    server.at && fateOf(server, client, { ours, place: file }).kind === "doubled" ? [server.at] : [],
  );
  let after = text;
  for (const at of taken) after = await format.drop({ path: file, text: after }, at);
  return { after, taken };
}

/** Servers in lists have no path, because lists cannot be edited safely. */
function serversWithPaths(client: ClientProgram, doc: Keys): readonly LocatedServer[] {
  const paths = [client.at(doc), ...projectPaths(doc)];
  const keys = paths.flatMap((path) => {
    const servers = valueAt(doc, path);
    return isKeys(servers) ? Object.keys(servers).map((name) => [...path, name]) : [];
  });
  return client
    .servers(doc)
    .filter(({ entry }) => !isMetaMcp(entry))
    .map((server) => ({
      ...server,
      at: keys.find((path) => valueAt(doc, path) === (server.written ?? server.entry)),
    }));
}

function projectPaths({ projects }: Keys): readonly KeyPath[] {
  return Object.keys(isKeys(projects) ? projects : {}).map((project) => ["projects", project, "mcpServers"]);
}

function fateOf(
  server: LocatedServer,
  client: ClientProgram,
  { ours, place }: { readonly ours: OurEntries; readonly place: string },
): Fate {
  const result = translate(server, client.dialect);
  // A server that is off in this client stays off there.
  if (isKeys(server.entry) && isOff(server.entry)) return { kind: "off" };
  if ("reason" in result) return { kind: "kept", reason: result.reason };
  if ("disabled" in result.entry) return { kind: "off" };
  const { exact, others } = twinsOf(result.entry, Object.entries(ours.usable));
  const [other] = others;
  if (exact === undefined && other === undefined) {
    const { exact: broken } = twinsOf(result.entry, Object.entries(ours.broken));
    if (broken !== undefined) return { kind: "blocked", reason: ours.reasons.get(broken) ?? "" };
    return { kind: "only" };
  }
  if (result.unread.length > 0) return { kind: "kept", reason: result.unread.join("; ") };
  if (exact === undefined)
    return { kind: "kept", reason: `MetaMCP runs it as "${other}", with other tool rules` };
  if (other !== undefined && rulesOf(result.entry) !== undefined)
    return {
      kind: "kept",
      reason: `its tool rules would not hold, because MetaMCP also runs it as "${other}"`,
    };
  return server.at
    ? { kind: "doubled" }
    : { kind: "kept", reason: `MetaMCP runs it too; remove it from ${place}` };
}
