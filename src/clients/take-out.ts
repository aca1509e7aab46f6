/** Removes servers from a client's list that MetaMCP runs too, so that the client uses them only through MetaMCP. Every edit can be undone. */
import { isOff } from "../config/consent.ts";
import { isKeys, type Keys } from "../config/field.ts";
import type { ClientProgram, WrittenServer } from "./client.ts";
import { type ClientFile, faultOf, readBytes, textOf } from "./client-file.ts";
import type { ConnectPlan } from "./connect.ts";
import { type EditOptions, editClientFile, type NewText } from "./edit-client-file.ts";
import type { KeyPath } from "./edit-records.ts";
import { formatOf } from "./format-of.ts";
import { merge } from "./merge.ts";
import { isMetaMcp, METAMCP_NAME } from "./metamcp-entry.ts";
import { valueAt } from "./servers.ts";
import { translate } from "./translate.ts";
import { unifiedDiff } from "./unified-diff.ts";

/** A server in a client's file with its path. */
interface LocatedServer extends WrittenServer {
  readonly at: KeyPath;
}

/** The entries of our config. */
export interface OurEntries {
  readonly usable: Keys;
  readonly broken: Keys;
  /** Why the broken ones cannot be used, by name. */
  readonly reasons: ReadonlyMap<string, string>;
}

export interface OtherServers {
  /** Names of servers that MetaMCP runs too. */
  readonly doubled: readonly string[];
  /** Names of servers that only the client has. */
  readonly only: readonly string[];
  /** Servers that MetaMCP has too but cannot run, with the reason. */
  readonly blocked: readonly { readonly name: string; readonly reason: string }[];
}

/** The servers that the client lists in addition to MetaMCP. */
export async function otherServersOf({ client, file }: ClientFile, ours: OurEntries): Promise<OtherServers> {
  const bytes = await readBytes(file);
  const doc = bytes ? await (await formatOf(file)).parse({ path: file, text: textOf(bytes, file) }) : {};
  const doubled: string[] = [];
  const only: string[] = [];
  const blocked: { name: string; reason: string }[] = [];
  for (const server of serversWithPaths(client, doc)) {
    const { name, entry } = server;
    const broken = sameServer(server, client, ours.broken);
    if (sameServer(server, client, ours.usable) !== undefined) doubled.push(name);
    else if (isKeys(entry) && isOff(entry)) continue;
    else if (broken === undefined) only.push(name);
    else blocked.push({ name, reason: ours.reasons.get(broken) ?? "" });
  }
  return { doubled, only, blocked };
}

/** Undefined if there is nothing to remove. */
export async function planTakeOut(clientFile: ClientFile, ours: Keys): Promise<ConnectPlan | undefined> {
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

export async function takeOut(clientFile: ClientFile, ours: Keys, options: EditOptions): Promise<boolean> {
  return await editClientFile(clientFile, (text) => withoutDoubled(clientFile, text, ours), options);
}

async function withoutDoubled({ client, file }: ClientFile, text: string, ours: Keys): Promise<NewText> {
  const format = await formatOf(file);
  const doc = await format.parse({ path: file, text });
  // Without an entry for MetaMCP the client would lose these servers.
  if (!isMetaMcp(valueAt(doc, [...client.at(doc), METAMCP_NAME]))) return { after: text };
  const taken = serversWithPaths(client, doc)
    .filter((server) => sameServer(server, client, ours) !== undefined)
    .map(({ at }) => at);
  let after = text;
  for (const at of taken) after = await format.drop({ path: file, text: after }, at);
  return { after, taken };
}

/** The servers in objects, without those in lists, because lists cannot be edited safely. */
function serversWithPaths(client: ClientProgram, doc: Keys): readonly LocatedServer[] {
  const paths = [client.at(doc), ...projectPaths(doc)];
  const keys = paths.flatMap((path) => {
    const servers = valueAt(doc, path);
    return isKeys(servers) ? Object.keys(servers).map((name) => [...path, name]) : [];
  });
  return client.servers(doc).flatMap((server) => {
    const at = keys.find((path) => valueAt(doc, path) === server.entry);
    return at && !isMetaMcp(server.entry) ? [{ ...server, at }] : [];
  });
}

function projectPaths({ projects }: Keys): readonly KeyPath[] {
  return Object.keys(isKeys(projects) ? projects : {}).map((project) => ["projects", project, "mcpServers"]);
}

/** The name of the same server (command or address, and credentials) in our config. */
function sameServer(server: LocatedServer, client: ClientProgram, ours: Keys): string | undefined {
  const result = translate(server, client.dialect);
  if ("reason" in result) return undefined;
  const found = { client, file: "", name: server.name, ...result };
  return merge([found], ours).same[0]?.as;
}
