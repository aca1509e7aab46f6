/**
 * Removes MetaMCP from clients' files. Restores a file byte by byte if nobody else changed it since;
 * otherwise removes our entry and adds the removed servers again.
 */
import { ConfigError } from "../config/config-error.ts";
import { isKeys, type Keys } from "../config/field.ts";
import type { ClientProgram } from "./client.ts";
import { faultOf, hashOf, readBytes, removeWithFolders, textOf, writeBytes } from "./client-file.ts";
import { type EditRecord, readEditRecords, withEditRecords } from "./edit-records.ts";
import { formatOf } from "./format-of.ts";
import { isMetaMcp, METAMCP_NAME, wordsOf } from "./metamcp-entry.ts";
import { valueAt } from "./servers.ts";
import { CLIENTS } from "./table.ts";
import { unifiedDiff } from "./unified-diff.ts";

export interface UndoPlan {
  readonly client: ClientProgram;
  readonly file: string;
  readonly state: "change" | "gone" | "fault";
  readonly diff?: string;
  readonly message?: string;
}

/** The file after the undo. */
type Goal = { readonly bytes: Uint8Array } | "no file" | "as it is";

export async function planUndo(
  clients: readonly ClientProgram[],
  home: string,
): Promise<readonly UndoPlan[]> {
  const edits = await readEditRecords(home);
  const known = edits.flatMap((edit) => {
    const client = clients.find(({ id }) => id === edit.client);
    return client ? [{ edit, client }] : [];
  });
  return await Promise.all(known.map(async ({ edit, client }) => await planOne(edit, client)));
}

async function planOne(edit: EditRecord, client: ClientProgram): Promise<UndoPlan> {
  const { file } = edit;
  try {
    const current = await readBytes(file);
    const goal = await goalOf(edit, current);
    if (goal === "as it is") return { client, file, state: "gone" };
    const before = current && textOf(current, file);
    const after = goal === "no file" ? undefined : textOf(goal.bytes, file);
    const shown = await metaMcpWords(client, file, before ?? "");
    return { client, file, state: "change", diff: unifiedDiff({ path: file, before, after, shown }) };
  } catch (error) {
    return { client, file, state: "fault", message: faultOf(error, file) };
  }
}

async function metaMcpWords(client: ClientProgram, file: string, text: string): Promise<readonly string[]> {
  const doc = await (await formatOf(file)).parse({ path: file, text });
  const entry = valueAt(doc, [...client.at(doc), METAMCP_NAME]);
  return isKeys(entry) && isMetaMcp(entry) ? wordsOf(entry) : [];
}

export async function undo(file: string, home: string): Promise<void> {
  await withEditRecords(home, async (edits, save) => {
    const edit = edits.find((one) => one.file === file);
    if (!edit) return;
    const current = await readBytes(file);
    const goal = await goalOf(edit, current);
    if (goal === "no file" || current === undefined) await removeWithFolders(file, edit.folders);
    else if (goal !== "as it is") await writeBytes(file, goal.bytes);
    await save(edits.filter((one) => one !== edit));
  });
}

async function goalOf(edit: EditRecord, current: Buffer | undefined): Promise<Goal> {
  const { file, back, after } = edit;
  if (!current) return "as it is";
  const hash = hashOf(current);
  if (typeof back === "object") {
    if (hash === back.hash) return "as it is";
    const bytes = hash === after ? await readBytes(back.copy) : undefined;
    if (bytes && hashOf(bytes) === back.hash) return { bytes };
  }
  return await withoutEntry(edit, textOf(current, file));
}

async function withoutEntry(edit: EditRecord, text: string): Promise<Goal> {
  const { client: id, file, back } = edit;
  const client = CLIENTS.find((one) => one.id === id);
  if (!client) return "as it is";
  const format = await formatOf(file);
  const doc = await format.parse({ path: file, text });
  const at = client.at(doc);
  const hasEntry = isMetaMcp(valueAt(doc, [...at, METAMCP_NAME]));
  const bare = hasEntry ? await format.drop({ path: file, text }, [...at, METAMCP_NAME]) : text;
  const after = await withTakenOut(edit, bare);
  if (after === text) return "as it is";
  const rest = await format.parse({ path: file, text: after });
  return back === "nothing" && isEmptyTree(rest) ? "no file" : { bytes: Buffer.from(after) };
}

/** Adds removed entries again. Keeps an entry that exists already. */
async function withTakenOut({ file, taken = [] }: EditRecord, text: string): Promise<string> {
  const format = await formatOf(file);
  let after = text;
  for (const { copy, hash, at } of taken) {
    const bytes = await readBytes(copy);
    if (!bytes || hashOf(bytes) !== hash)
      throw new ConfigError(file, `the copy with the removed servers is gone: ${copy}`);
    const old = await format.parse({ path: file, text: textOf(bytes, file) });
    for (const path of at) {
      const entry = valueAt(old, path);
      const existing = valueAt(await format.parse({ path: file, text: after }), path);
      if (isKeys(entry) && existing === undefined)
        after = await format.put({ path: file, text: after }, path, entry);
    }
  }
  return after;
}

/** Whether it contains only empty objects, such as the keys that led to our entry. */
function isEmptyTree(value: Keys): boolean {
  return Object.values(value).every((inner) => isKeys(inner) && isEmptyTree(inner));
}
