/**
 * Watches a config file by file events and, because events can be lost, by polling. Does not keep the process
 * alive and never reports a partly written file.
 */
import { stat } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { readIfThere } from "../home/file.ts";
import type { Clock, Timer } from "../kernel/clock.ts";
import { ConfigError } from "./config-error.ts";
import { sameConfig } from "./diff.ts";
import { type LoadOptions, parseConfig, readConfigText } from "./load.ts";
import { pickConfig } from "./locate.ts";
import type { Config } from "./spec.ts";
import { WatchedFolder } from "./watched-folder.ts";

export interface WatchOptions extends LoadOptions {
  readonly clock: Clock;
  /** The config that the caller has. Only configs that differ from it are reported. */
  readonly initial: Config;
}

export interface ConfigWatch {
  /** Reads the file now. */
  check(): void;
  close(): void;
}

/** The caller has just read the file, and its first clients wait. */
const FIRST_MS = 200;
const POLL_MS = 1_000;
const DEBOUNCE_MS = 100;
/** After this time the file is read even if events continue. */
const MAX_DEBOUNCE_MS = 500;
/** A file must be missing for this long to count as removed. */
const ABSENCE_MS = 400;
/** Timestamps are coarse. A file that was modified this recently may change again without a new timestamp. */
const FRESH_MS = 3_000;

/**
 * Watches the file in use while it exists, else the first of `paths` that exists. `onFault` gets a message if
 * the file cannot be used, and undefined once it is fixed.
 */
export function watchConfig(
  paths: string | readonly string[],
  onConfig: (config: Config) => void,
  onFault: (message: string | undefined) => void,
  options: WatchOptions,
): ConfigWatch {
  const watcher = new Watcher([paths].flat(), { onConfig, onFault }, options);
  watcher.start();
  return watcher;
}

interface Listener {
  onConfig(config: Config): void;
  onFault(message: string | undefined): void;
}

interface FileState {
  readonly path: string;
  readonly text: string | undefined;
  /** The text of the consent record, read before the file was checked against it. */
  readonly allowed: string | undefined;
}

class Watcher implements ConfigWatch {
  readonly #paths: readonly string[];
  /** The paths and the consent record. */
  readonly #watched: readonly string[];
  readonly #names: ReadonlySet<string>;
  readonly #folders: readonly WatchedFolder[];
  readonly #listener: Listener;
  readonly #options: WatchOptions;
  #current: Config;
  /** The state that was last loaded; undefined before the first load and after a failed one. */
  #loaded: FileState | undefined;
  #fault: string | undefined;
  #stamps = "";
  #poll: Timer | undefined;
  #timer: Timer | undefined;
  #burstStart: number | undefined;
  #checking = false;
  #again = false;
  #goneSince: number | undefined;
  #closed = false;

  constructor(paths: readonly string[], listener: Listener, options: WatchOptions) {
    this.#paths = paths.map((path) => resolve(path));
    this.#watched = options.consent ? [...this.#paths, options.consent.record] : this.#paths;
    this.#names = new Set(this.#watched.map((path) => basename(path)));
    const onEvent = (name: string | null): void => {
      if (name === null || this.#names.has(name)) this.#onFileEvent();
    };
    this.#folders = [...new Set(this.#watched.map(dirname))].map((path) => new WatchedFolder(path, onEvent));
    this.#listener = listener;
    this.#options = options;
    this.#current = options.initial;
  }

  start(): void {
    this.#poll = this.#options.clock.after(FIRST_MS, () => void this.#tick());
  }

  close(): void {
    this.#closed = true;
    this.#poll?.cancel();
    this.#timer?.cancel();
    for (const folder of this.#folders) folder.close();
  }

  async #tick(): Promise<void> {
    const { clock } = this.#options;
    await Promise.all(this.#folders.map((folder) => folder.follow()));
    const stamps = (await Promise.all(this.#watched.map((path) => stampOf(path, clock.now())))).join("\n");
    if (this.#closed) return;
    if (stamps !== this.#stamps) this.check();
    this.#stamps = stamps;
    this.#poll = clock.after(POLL_MS, () => void this.#tick());
  }

  #onFileEvent(): void {
    if (this.#closed) return;
    const now = this.#options.clock.now();
    this.#burstStart ??= now;
    if (now - this.#burstStart < MAX_DEBOUNCE_MS) this.#checkAfter(DEBOUNCE_MS);
  }

  #checkAfter(ms: number): void {
    this.#timer?.cancel();
    this.#timer = this.#options.clock.after(ms, () => this.check());
  }

  /** Runs one check at a time. A request during a check causes another one afterwards. */
  check(): void {
    this.#burstStart = undefined;
    this.#again = this.#checking;
    if (this.#checking || this.#closed) return;
    this.#checking = true;
    void this.#load().then((report) => {
      this.#checking = false;
      if (this.#closed) return;
      report?.();
      if (this.#again) this.check();
    });
  }

  /** Returns a function that reports the result, or undefined if there is nothing to report. */
  async #load(): Promise<(() => void) | undefined> {
    try {
      const path = pickConfig([this.#current.path, ...this.#paths]);
      if (await isStream(path)) return undefined;
      const text = await readConfigText(path);
      if (this.#mayComeBack(text !== undefined && path === this.#current.path)) return undefined;
      const { consent } = this.#options;
      const state = { path, text, allowed: consent && (await readIfThere(consent.record)) };
      if (isDeepStrictEqual(state, this.#loaded)) return undefined;
      const config = await parseConfig(path, text, this.#options);
      this.#loaded = state;
      return () => this.#report(config, undefined);
    } catch (error) {
      this.#loaded = undefined;
      const message = error instanceof ConfigError ? error.message : String(error);
      return () => this.#report(this.#current, message);
    }
  }

  /**
   * Some editors remove the file and then rename the new one. So a missing file counts as removed only after
   * ABSENCE_MS.
   */
  #mayComeBack(exists: boolean): boolean {
    const now = this.#options.clock.now();
    this.#goneSince = exists || !this.#current.exists ? undefined : (this.#goneSince ?? now);
    const left = this.#goneSince === undefined ? 0 : this.#goneSince + ABSENCE_MS - now;
    if (left > 0) this.#checkAfter(left);
    return left > 0;
  }

  #report(config: Config, fault: string | undefined): void {
    if (fault !== this.#fault) {
      this.#fault = fault;
      this.#listener.onFault(fault);
    }
    if (sameConfig(config, this.#current)) return;
    this.#current = config;
    this.#listener.onConfig(config);
  }
}

/** A pipe can be read only once. Reading it again returns nothing or blocks. */
async function isStream(path: string): Promise<boolean> {
  const exists = await stat(path).catch(() => undefined);
  return exists !== undefined && !exists.isFile() && !exists.isDirectory();
}

/** Changes whenever the file may have changed; for a recently modified file it changes with each call. */
async function stampOf(path: string, now: number): Promise<string> {
  try {
    const { ino, size, mtimeMs, ctimeMs } = await stat(path);
    const fresh = Math.abs(Date.now() - mtimeMs) < FRESH_MS ? now : "";
    return `${ino} ${size} ${mtimeMs} ${ctimeMs} ${fresh}`;
  } catch {
    return "absent";
  }
}
