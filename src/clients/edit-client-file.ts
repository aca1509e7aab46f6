/**
 * Edits a client's file so that it can be undone: makes a backup and writes a record before the file is
 * changed.
 */
import { ConfigError } from "../config/config-error.ts";
import { backup } from "../home/backup.ts";
import { type ClientFile, hashOf, missingFolders, readBytes, textOf, writeBytes } from "./client-file.ts";
import { type EditRecord, type KeyPath, type TakenOut, withEditRecords } from "./edit-records.ts";
import { formatOf } from "./format-of.ts";
import { isMetaMcp, METAMCP_NAME } from "./metamcp-entry.ts";
import { valueAt } from "./servers.ts";

export interface EditOptions {
  readonly home: string;
  readonly now: Date;
}

export interface NewText {
  readonly after: string;
  /** Entries of the client that the edit removes. */
  readonly taken?: readonly KeyPath[];
}

const MAX_ATTEMPTS = 5;

/** Returns whether the file was changed. `edit` gets the current text, which is empty if there is no file. */
export async function editClientFile(
  clientFile: ClientFile,
  edit: (text: string) => Promise<NewText>,
  { home, now }: EditOptions,
): Promise<boolean> {
  const { client, file } = clientFile;
  return await withEditRecords(home, async (edits, save) => {
    // The client does not use our lock. If it changed the file since it was read, the edit starts again.
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const before = await readBytes(file);
      const text = before && textOf(before, file);
      const { after, taken = [] } = await edit(text ?? "");
      if (after === text) return false;
      const folders = before ? [] : await missingFolders(file);
      const copy = before && (await backup(file, home, now));
      if (copy && !before.equals((await readBytes(copy)) ?? Buffer.of())) continue;

      const kept = copy && before ? { copy, hash: hashOf(before) } : undefined;
      const old = edits.find((one) => one.file === file);
      const fresh: EditRecord = {
        client: client.id,
        file,
        back: kept ?? "nothing",
        after: hashOf(Buffer.from(after)),
        folders,
        taken: kept && taken.length > 0 ? [{ ...kept, at: taken }] : [],
      };
      const edited =
        before && old
          ? continued(fresh, old, hashOf(before), await hasMetaMcp(clientFile, text ?? ""))
          : fresh;
      await save([...edits.filter((one) => one !== old), edited]);
      await writeBytes(file, after);
      return true;
    }
    throw new ConfigError(file, `it keeps changing; close ${client.title} and try again`);
  });
}

/**
 * Undoing a second edit restores the state before the first one, unless someone else changed the file in
 * between.
 */
function continued(fresh: EditRecord, old: EditRecord, before: string, hadMetaMcp: boolean): EditRecord {
  const { back, folders } = old;
  const taken: readonly TakenOut[] = [...(old.taken ?? []), ...(fresh.taken ?? [])];
  if (before === old.after) return { ...fresh, back, folders, taken };
  return hadMetaMcp ? { ...fresh, back: "entry", folders, taken } : fresh;
}

async function hasMetaMcp({ client, file }: ClientFile, text: string): Promise<boolean> {
  const doc = await (await formatOf(file)).parse({ path: file, text });
  return isMetaMcp(valueAt(doc, [...client.at(doc), METAMCP_NAME]));
}
