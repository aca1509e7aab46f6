/** One edit of a client's file that can be undone: a copy and a record are kept before the file is touched. */
import { ConfigError } from "../config/config-error.ts";
import { backup } from "../home/backup.ts";
import { hashOf, missingFolders, readBytes, type Spot, textOf, writeBytes } from "./client-file.ts";
import { formatOf } from "./format-of.ts";
import { type KeyPath, type LedgerEntry, type TakenOut, withLedger } from "./ledger.ts";
import { isOwn, OWN_NAME } from "./own.ts";
import { dig } from "./servers.ts";

export interface EditOptions {
  readonly home: string;
  readonly now: Date;
}

export interface NewText {
  readonly after: string;
  /** Entries of the client's that are no longer in it. */
  readonly taken?: readonly KeyPath[];
}

const MOST_ATTEMPTS = 5;

/** Whether there was something to do. `edit` gets the text as it is at that moment, empty where there is no file. */
export async function editClientFile(
  spot: Spot,
  edit: (text: string) => Promise<NewText>,
  { home, now }: EditOptions,
): Promise<boolean> {
  const { client, file } = spot;
  return await withLedger(home, async (edits, save) => {
    // The client itself knows nothing of our lock: what it wrote since we looked is looked at again.
    for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
      const before = await readBytes(file);
      const text = before && textOf(before, file);
      const { after, taken = [] } = await edit(text ?? "");
      if (after === text) return false;
      const folders = before ? [] : await missingFolders(file);
      const copy = before && (await backup(file, home, now));
      if (copy && !before.equals((await readBytes(copy)) ?? Buffer.of())) continue;

      const kept = copy && before ? { copy, hash: hashOf(before) } : undefined;
      const old = edits.find((one) => one.file === file);
      const fresh: LedgerEntry = {
        client: client.id,
        file,
        back: kept ?? "nothing",
        after: hashOf(Buffer.from(after)),
        folders,
        taken: kept && taken.length > 0 ? [{ ...kept, at: taken }] : [],
      };
      const edited =
        before && old ? continued(fresh, old, hashOf(before), await hasOwn(spot, text ?? "")) : fresh;
      await save([...edits.filter((one) => one !== old), edited]);
      await writeBytes(file, after);
      return true;
    }
    throw new ConfigError(file, `it keeps changing; close ${client.title} and try again`);
  });
}

/** A second edit goes back to where the first one began, unless somebody else wrote in between. */
function continued(fresh: LedgerEntry, old: LedgerEntry, before: string, hadOwn: boolean): LedgerEntry {
  const { back, folders } = old;
  const taken: readonly TakenOut[] = [...(old.taken ?? []), ...(fresh.taken ?? [])];
  if (before === old.after) return { ...fresh, back, folders, taken };
  return hadOwn ? { ...fresh, back: "entry", folders, taken } : fresh;
}

async function hasOwn({ client, file }: Spot, text: string): Promise<boolean> {
  const doc = await (await formatOf(file)).parse({ path: file, text });
  return isOwn(dig(doc, [...client.at(doc), OWN_NAME]));
}
