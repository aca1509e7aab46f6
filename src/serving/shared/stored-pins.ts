/**
 * The approved tools of a gateway in its store, so that all gateways on it block and approve the same. Takes
 * over the file of a server once, if the store has nothing for it.
 */
import { PinFiles, type PinStorage } from "../../catalog/pins/pin-storage.ts";
import type { ServerId } from "../../kernel/call.ts";
import { StoreError } from "../../store/error.ts";
import type { Store, StoredRecord } from "../../store/store.ts";

/** The kind of record. Its id is the server, its value the text that a file of pins would have. */
const PINS = "pins";
const MAX_ATTEMPTS = 20;

export class StoredPins implements PinStorage {
  readonly #records: Store["records"];
  readonly #files: PinFiles;
  /** The last text of each server, for a time without the store. */
  readonly #last = new Map<ServerId, string | undefined>();
  #changes = 0;

  constructor(store: Pick<Store, "records" | "onChange">, home: string) {
    this.#records = store.records;
    this.#files = new PinFiles(home);
    store.onChange((change) => {
      if (change.of === "records" && change.kind === PINS) this.#changes += 1;
    });
  }

  placeOf(): string {
    return "the store";
  }

  /**
   * Changes with any change of any server: comparing once more costs less than a statement that says which
   * one it was.
   */
  stamp(): Promise<string> {
    return Promise.resolve(String(this.#changes));
  }

  async read(server: ServerId): Promise<string | undefined> {
    try {
      const text = textIn(await this.#record(server));
      this.#last.set(server, text);
      return text;
    } catch (error) {
      if (StoreError.is(error, "unavailable") && this.#last.has(server)) return this.#last.get(server);
      throw error;
    }
  }

  async update(server: ServerId, next: (text: string | undefined) => string | undefined): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      const record = await this.#record(server);
      const text = next(textIn(record));
      if (text === undefined) return;
      try {
        await this.#put(server, text, record?.version ?? 0);
        this.#last.set(server, text);
        return;
      } catch (error) {
        // Another gateway changed it meanwhile, so `next` decides again.
        if (!StoreError.is(error, "conflict") || attempt === MAX_ATTEMPTS) throw error;
      }
    }
  }

  async #record(server: ServerId): Promise<StoredRecord | undefined> {
    const record = await this.#records.get(PINS, server);
    if (record) return record;
    const text = await this.#files.read(server);
    if (text === undefined) return undefined;
    return await this.#put(server, text, 0).catch((error: unknown) => {
      if (StoreError.is(error, "conflict")) return this.#records.get(PINS, server);
      throw error;
    });
  }

  #put(server: ServerId, text: string, ifVersion: number): Promise<StoredRecord> {
    return this.#records.put({ kind: PINS, id: server, value: text, ifVersion });
  }
}

function textIn(record: StoredRecord | undefined): string | undefined {
  return record && String(record.value);
}
