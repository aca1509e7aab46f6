/** Follows a config file. Events make it quick; a poll makes it certain. Never keeps the process alive, never gives out half a file. */
import { type FSWatcher, watch } from "node:fs";
import { stat } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import type { Clock, Timer } from "../kernel/clock.ts";
import { sameConfig } from "./diff.ts";
import { ConfigError, type LoadOptions, parseConfig, readConfigText } from "./load.ts";
import type { Config } from "./spec.ts";

export interface WatchOptions extends LoadOptions {
  readonly clock: Clock;
  /** What the caller has already: the first thing reported is what differs from it. */
  readonly initial: Config;
}

export interface ConfigWatch {
  close(): void;
}

const POLL_MS = 1_000;
const QUIET_MS = 100;
/** Edits without a pause are looked at all the same. */
const LONGEST_QUIET_MS = 500;
/** Timestamps are coarse: a file changed this lately may have changed again without showing it. */
const FRESH_MS = 3_000;

/** `onFault` has the message while the file cannot be used, undefined once it is mended. */
export function watchConfig(
  path: string,
  onConfig: (config: Config) => void,
  onFault: (message: string | undefined) => void,
  options: WatchOptions,
): ConfigWatch {
  const watcher = new Watcher(resolve(path), { onConfig, onFault }, options);
  watcher.start();
  return watcher;
}

interface Listener {
  onConfig(config: Config): void;
  onFault(message: string | undefined): void;
}

class Watcher implements ConfigWatch {
  readonly #path: string;
  readonly #listener: Listener;
  readonly #options: WatchOptions;
  #current: Config;
  /** The text last judged; null before the first look. */
  #text: string | undefined | null = null;
  #fault: string | undefined;
  #mark = "";
  #folder: { readonly inode: string; readonly watcher: FSWatcher } | undefined;
  #poll: Timer | undefined;
  #quiet: { readonly timer: Timer; readonly since: number } | undefined;
  #looking: Promise<void> | undefined;
  #again = false;
  #absentSeen = false;
  #closed = false;

  constructor(path: string, listener: Listener, options: WatchOptions) {
    this.#path = path;
    this.#listener = listener;
    this.#options = options;
    this.#current = options.initial;
  }

  start(): void {
    this.#look();
    void this.#tick();
  }

  close(): void {
    this.#closed = true;
    this.#poll?.cancel();
    this.#quiet?.timer.cancel();
    this.#folder?.watcher.close();
    this.#folder = undefined;
  }

  async #tick(): Promise<void> {
    await this.#followFolder();
    const mark = await this.#markOf();
    if (this.#closed) return;
    if (mark !== this.#mark) this.#look();
    this.#mark = mark;
    this.#poll = this.#options.clock.after(POLL_MS, () => void this.#tick());
  }

  /** Changes whenever the file may have changed; with each call while it is fresh. */
  async #markOf(): Promise<string> {
    try {
      const { ino, size, mtimeMs, ctimeMs } = await stat(this.#path);
      const fresh = Math.abs(Date.now() - mtimeMs) < FRESH_MS ? this.#options.clock.now() : "";
      return `${ino} ${size} ${mtimeMs} ${ctimeMs} ${fresh}`;
    } catch {
      return "absent";
    }
  }

  /** The folder, not the file: editors replace files. It may appear later, or be replaced itself. */
  async #followFolder(): Promise<void> {
    const folder = dirname(this.#path);
    const inode = await stat(folder).then(
      ({ dev, ino }) => `${dev} ${ino}`,
      () => "",
    );
    if (this.#closed || inode === (this.#folder?.inode ?? "")) return;
    this.#folder?.watcher.close();
    this.#folder = undefined;
    if (inode === "") return;
    try {
      const watcher = watch(folder, { persistent: false }, (_event, name) => {
        if (name === null || name === basename(this.#path)) this.#touched();
      });
      // A system without free watches, or a folder that went: the poll goes on.
      watcher.on("error", () => watcher.close());
      this.#folder = { inode, watcher };
    } catch {
      // The same, said earlier.
    }
  }

  #touched(): void {
    if (this.#closed) return;
    const { clock } = this.#options;
    const since = this.#quiet?.since ?? clock.now();
    if (this.#quiet && clock.now() - since >= LONGEST_QUIET_MS) return;
    this.#quiet?.timer.cancel();
    const timer = clock.after(QUIET_MS, () => {
      this.#quiet = undefined;
      this.#look();
    });
    this.#quiet = { timer, since };
  }

  /** One look at a time; whatever happens meanwhile means another one. */
  #look(): void {
    if (this.#closed) return;
    if (this.#looking) {
      this.#again = true;
      return;
    }
    this.#looking = this.#judge().finally(() => {
      this.#looking = undefined;
      if (!this.#again) return;
      this.#again = false;
      this.#look();
    });
  }

  async #judge(): Promise<void> {
    try {
      const text = await readConfigText(this.#path);
      if (this.#closed || this.#waitsForFile(text)) return;
      if (text === this.#text) return this.#settle(undefined, this.#fault);
      const config = await parseConfig(this.#path, text, this.#options);
      this.#text = text;
      this.#settle(config, undefined);
    } catch (error) {
      const message = error instanceof ConfigError ? error.message : `${this.#path}: ${String(error)}`;
      this.#text = null;
      this.#settle(undefined, message);
    }
  }

  /** Between removing and renaming a file is absent for a moment: only the second look in a row believes it. */
  #waitsForFile(text: string | undefined): boolean {
    const gone = text === undefined && this.#current.exists && !this.#absentSeen;
    this.#absentSeen = text === undefined;
    if (gone) this.#touched();
    return gone;
  }

  #settle(config: Config | undefined, fault: string | undefined): void {
    if (this.#closed) return;
    if (fault !== this.#fault) {
      this.#fault = fault;
      this.#listener.onFault(fault);
    }
    if (config === undefined || sameConfig(config, this.#current)) return;
    this.#current = config;
    this.#listener.onConfig(config);
  }
}
