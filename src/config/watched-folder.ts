/** Events from a folder that may appear later, go, or be replaced. Best effort: who needs certainty polls beside it. */
import { type FSWatcher, watch } from "node:fs";
import { stat } from "node:fs/promises";

export class WatchedFolder {
  readonly #path: string;
  readonly #onEvent: (name: string | null) => void;
  #watcher: FSWatcher | undefined;
  #inode = "";
  #closed = false;

  constructor(path: string, onEvent: (name: string | null) => void) {
    this.#path = path;
    this.#onEvent = onEvent;
  }

  /** To be called now and then: a watch stays with the folder it was made for, not with its name. */
  async follow(): Promise<void> {
    const inode = await stat(this.#path).then(
      ({ dev, ino }) => `${dev} ${ino}`,
      () => "",
    );
    if (this.#closed || inode === this.#inode) return;
    this.#watcher?.close();
    this.#inode = inode;
    this.#watcher = inode === "" ? undefined : this.#watch();
  }

  close(): void {
    this.#closed = true;
    this.#watcher?.close();
  }

  /** A system may have no watches left to give. */
  #watch(): FSWatcher | undefined {
    try {
      const watcher = watch(this.#path, { persistent: false }, (_event, name) => this.#onEvent(name));
      watcher.on("error", () => watcher.close());
      return watcher;
    } catch {
      return undefined;
    }
  }
}
