/**
 * Where the approved tools are kept: one text per server. In personal mode these are files in METAMCP_HOME.
 */
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { readIfThere, writeAtomic } from "../../home/file.ts";
import { withLock } from "../../home/lock.ts";
import { safeName } from "../../home/safe-name.ts";
import type { ServerId } from "../../kernel/call.ts";

export interface PinStorage {
  /** Undefined if nothing was stored for the server. */
  read(server: ServerId): Promise<string | undefined>;
  /**
   * Replaces the text with what `next` makes of it; undefined leaves it as it is. Updates of a server run one
   * after the other, across all processes.
   */
  update(server: ServerId, next: (text: string | undefined) => string | undefined): Promise<void>;
  /** Another value if the text may have changed. It is asked often, so it must be cheap. */
  stamp(server: ServerId): Promise<string>;
  /** Where the text is, for messages. */
  placeOf(server: ServerId): string;
}

export class PinFiles implements PinStorage {
  readonly #home: string;

  constructor(home: string) {
    this.#home = home;
  }

  placeOf(server: ServerId): string {
    return join(this.#home, "pins", `${safeName(server)}.json`);
  }

  async read(server: ServerId): Promise<string | undefined> {
    return await readIfThere(this.placeOf(server));
  }

  async update(server: ServerId, next: (text: string | undefined) => string | undefined): Promise<void> {
    const path = this.placeOf(server);
    await withLock(path, async () => {
      const text = next(await readIfThere(path));
      if (text !== undefined) await writeAtomic(path, text);
    });
  }

  async stamp(server: ServerId): Promise<string> {
    try {
      const { ino, size, mtimeMs, ctimeMs } = await stat(this.placeOf(server));
      return `${ino} ${size} ${mtimeMs} ${ctimeMs}`;
    } catch {
      return "absent";
    }
  }
}
