/** Follows a config file. Events make it quick; a poll makes it certain. Never keeps the process alive, never gives out half a file. */
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
  /** What the caller has already: the first thing reported is what differs from it. */
  readonly initial: Config;
}

export interface ConfigWatch {
  close(): void;
}

const POLL_MS = 1_000;
const QUIET_MS = 100;
/** Edits without a pause are looked at all the same. */
const LONGEST_RESTLESS_MS = 500;
const ABSENCE_MS = 400;
/** Timestamps are coarse: a file changed this lately may have changed again without showing it. */
const FRESH_MS = 3_000;

/**
 * Follows the file in use while it is there, else the first of `paths` that is. `onFault` has the message while the
 * file cannot be used, and undefined once it is fixed.
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

interface Seen {
  readonly path: string;
  readonly text: string | undefined;
  /** The record of what is allowed, read before the file was judged by it. */
  readonly allowed: string | undefined;
}

class Watcher implements ConfigWatch {
  readonly #paths: readonly string[];
  /** The paths, and the record of what is allowed. */
  readonly #watched: readonly string[];
  readonly #names: ReadonlySet<string>;
  readonly #folders: readonly WatchedFolder[];
  readonly #listener: Listener;
  readonly #options: WatchOptions;
  #current: Config;
  /** What was last understood; undefined: nothing yet, or it could not be. */
  #seen: Seen | undefined;
  #fault: string | undefined;
  #marks = "";
  #poll: Timer | undefined;
  #pause: Timer | undefined;
  #restless: number | undefined;
  #looking = false;
  #again = false;
  #goneSince: number | undefined;
  #closed = false;

  constructor(paths: readonly string[], listener: Listener, options: WatchOptions) {
    this.#paths = paths.map((path) => resolve(path));
    this.#watched = options.consent ? [...this.#paths, options.consent.record] : this.#paths;
    this.#names = new Set(this.#watched.map((path) => basename(path)));
    const touched = (name: string | null): void => {
      if (name === null || this.#names.has(name)) this.#touched();
    };
    this.#folders = [...new Set(this.#watched.map(dirname))].map((path) => new WatchedFolder(path, touched));
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
    this.#pause?.cancel();
    for (const folder of this.#folders) folder.close();
  }

  async #tick(): Promise<void> {
    const { clock } = this.#options;
    await Promise.all(this.#folders.map((folder) => folder.follow()));
    const marks = (await Promise.all(this.#watched.map((path) => markOf(path, clock.now())))).join("\n");
    if (this.#closed) return;
    if (marks !== this.#marks) this.#look();
    this.#marks = marks;
    this.#poll = clock.after(POLL_MS, () => void this.#tick());
  }

  #touched(): void {
    if (this.#closed) return;
    const now = this.#options.clock.now();
    this.#restless ??= now;
    if (now - this.#restless < LONGEST_RESTLESS_MS) this.#lookAfter(QUIET_MS);
  }

  #lookAfter(ms: number): void {
    this.#pause?.cancel();
    this.#pause = this.#options.clock.after(ms, () => this.#look());
  }

  /** One look at a time; whatever happens meanwhile means another one. */
  #look(): void {
    this.#restless = undefined;
    this.#again = this.#looking;
    if (this.#looking || this.#closed) return;
    this.#looking = true;
    void this.#judge().then((report) => {
      this.#looking = false;
      if (this.#closed) return;
      report?.();
      if (this.#again) this.#look();
    });
  }

  /** What to tell, if anything. */
  async #judge(): Promise<(() => void) | undefined> {
    try {
      const path = await pickConfig([this.#current.path, ...this.#paths]);
      if (await isStream(path)) return undefined;
      const text = await readConfigText(path);
      if (this.#mayComeBack(text !== undefined && path === this.#current.path)) return undefined;
      const { consent } = this.#options;
      const seen = { path, text, allowed: consent && (await readIfThere(consent.record)) };
      if (isDeepStrictEqual(seen, this.#seen)) return undefined;
      const config = await parseConfig(path, text, this.#options);
      this.#seen = seen;
      return () => this.#tell(config, undefined);
    } catch (error) {
      this.#seen = undefined;
      const message = error instanceof ConfigError ? error.message : String(error);
      return () => this.#tell(this.#current, message);
    }
  }

  /** Between removing and renaming a file is absent for a moment: only absence that lasts is believed. */
  #mayComeBack(there: boolean): boolean {
    const now = this.#options.clock.now();
    this.#goneSince = there || !this.#current.exists ? undefined : (this.#goneSince ?? now);
    const left = this.#goneSince === undefined ? 0 : this.#goneSince + ABSENCE_MS - now;
    if (left > 0) this.#lookAfter(left);
    return left > 0;
  }

  #tell(config: Config, fault: string | undefined): void {
    if (fault !== this.#fault) {
      this.#fault = fault;
      this.#listener.onFault(fault);
    }
    if (sameConfig(config, this.#current)) return;
    this.#current = config;
    this.#listener.onConfig(config);
  }
}

/** A pipe gives its text once: to read it again is to read nothing, or to wait for ever. */
async function isStream(path: string): Promise<boolean> {
  const there = await stat(path).catch(() => undefined);
  return there !== undefined && !there.isFile() && !there.isDirectory();
}

/** Changes whenever the file may have changed, and with each call while it is fresh. */
async function markOf(path: string, now: number): Promise<string> {
  try {
    const { ino, size, mtimeMs, ctimeMs } = await stat(path);
    const fresh = Math.abs(Date.now() - mtimeMs) < FRESH_MS ? now : "";
    return `${ino} ${size} ${mtimeMs} ${ctimeMs} ${fresh}`;
  } catch {
    return "absent";
  }
}
