/**
 * File events of a folder that may be created, removed or replaced. Best effort: events can be lost, so the
 * caller must also poll.
 */
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

  /** Call this regularly: a watch belongs to the inode, so it must be renewed when the folder is replaced. */
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

  /** Undefined if the system has no watches left. */
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
