/** Takes servers out of a client's own list that MetaMCP runs for it by now: only then does the client see MetaMCP alone. Every edit can be undone. */
import { isOff } from "../config/consent.ts";
import { isKeys, type Keys } from "../config/field.ts";
import type { ClientProgram, WrittenServer } from "./client.ts";
import { faultOf, readBytes, type Spot, textOf } from "./client-file.ts";
import type { ConnectPlan } from "./connect.ts";
import { type EditOptions, editClientFile, type NewText } from "./edit-client-file.ts";
import { formatOf } from "./format-of.ts";
import type { KeyPath } from "./ledger.ts";
import { merge } from "./merge.ts";
import { isOwn, OWN_NAME } from "./own.ts";
import { dig } from "./servers.ts";
import { translate } from "./translate.ts";
import { unifiedDiff } from "./unified-diff.ts";

/** A server in a client's file. */
interface Listed extends WrittenServer {
  readonly at: KeyPath;
}

/** Entries of our config. */
export interface OurEntries {
  readonly usable: Keys;
  readonly broken: Keys;
  /** Why they cannot be used, by name. */
  readonly reasons: ReadonlyMap<string, string>;
}

export interface OwnList {
  /** Names of those that MetaMCP runs too. */
  readonly doubled: readonly string[];
  /** Names of those that only the client has, and starts. */
  readonly only: readonly string[];
  /** Those that MetaMCP has too and cannot run, with why. */
  readonly blocked: readonly { readonly name: string; readonly reason: string }[];
}

/** What else the client lists beside MetaMCP. */
export async function ownListOf({ client, file }: Spot, ours: OurEntries): Promise<OwnList> {
  const bytes = await readBytes(file);
  const doc = bytes ? await (await formatOf(file)).parse({ path: file, text: textOf(bytes, file) }) : {};
  const doubled: string[] = [];
  const only: string[] = [];
  const blocked: { name: string; reason: string }[] = [];
  for (const server of listedIn(client, doc)) {
    const { name, entry } = server;
    const broken = twinOf(server, client, ours.broken);
    if (twinOf(server, client, ours.usable) !== undefined) doubled.push(name);
    else if (isKeys(entry) && isOff(entry)) continue;
    else if (broken === undefined) only.push(name);
    else blocked.push({ name, reason: ours.reasons.get(broken) ?? "" });
  }
  return { doubled, only, blocked };
}

/** Undefined where there is nothing to take out. */
export async function planTakeOut(spot: Spot, ours: Keys): Promise<ConnectPlan | undefined> {
  const { file } = spot;
  try {
    const bytes = await readBytes(file);
    if (!bytes) return undefined;
    const before = textOf(bytes, file);
    const { after } = await withoutDoubled(spot, before, ours);
    if (after === before) return undefined;
    return { state: "change", diff: unifiedDiff({ path: file, before, after, shown: [] }) };
  } catch (error) {
    return { state: "fault", message: faultOf(error, file) };
  }
}

export async function takeOut(spot: Spot, ours: Keys, options: EditOptions): Promise<boolean> {
  return await editClientFile(spot, (text) => withoutDoubled(spot, text, ours), options);
}

async function withoutDoubled({ client, file }: Spot, text: string, ours: Keys): Promise<NewText> {
  const format = await formatOf(file);
  const doc = await format.parse({ path: file, text });
  // Who has no MetaMCP yet would be left with nothing.
  if (!isOwn(dig(doc, [...client.at(doc), OWN_NAME]))) return { after: text };
  const taken = listedIn(client, doc)
    .filter((server) => twinOf(server, client, ours) !== undefined)
    .map(({ at }) => at);
  let after = text;
  for (const at of taken) after = await format.drop({ path: file, text: after }, at);
  return { after, taken };
}

/** Those that stand under a key of their own; a list cannot be edited safely. */
function listedIn(client: ClientProgram, doc: Keys): readonly Listed[] {
  const paths = [client.at(doc), ...projectPaths(doc)];
  const keys = paths.flatMap((path) => {
    const servers = dig(doc, path);
    return isKeys(servers) ? Object.keys(servers).map((name) => [...path, name]) : [];
  });
  return client.servers(doc).flatMap((server) => {
    const at = keys.find((path) => dig(doc, path) === server.entry);
    return at && !isOwn(server.entry) ? [{ ...server, at }] : [];
  });
}

function projectPaths({ projects }: Keys): readonly KeyPath[] {
  return Object.keys(isKeys(projects) ? projects : {}).map((project) => ["projects", project, "mcpServers"]);
}

/** The name in our config of the same program or address with the same credentials. */
function twinOf(server: Listed, client: ClientProgram, ours: Keys): string | undefined {
  const result = translate(server, client.dialect);
  if ("reason" in result) return undefined;
  const found = { client, file: "", name: server.name, ...result };
  return merge([found], ours).same[0]?.as;
}
