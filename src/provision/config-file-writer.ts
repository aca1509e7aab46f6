/** Writes added servers to the config file of the personal mode. */
import { dirname } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { editJson, parseObject } from "../config/edit.ts";
import type { EntryContext } from "../config/entry-context.ts";
import { isKeys, type Keys } from "../config/field.ts";
import { readConfigText } from "../config/load.ts";
import { parseText } from "../config/parse.ts";
import type { Env } from "../home/home.ts";
import type { Candidate, Entry } from "./candidate.ts";
import type { ConfigWriter } from "./config-writer.ts";
import { confined, type NewEntry } from "./confined.ts";
import { freeName } from "./free-name.ts";

export interface ConfigFileWriterParts {
  readonly home: string;
  readonly env: Env;
  now(): Date;
  /** The config file in use; it may not exist yet. */
  configPath(): string;
  /** Called when an entry that the user agreed to has been written to the config file. */
  written(entry: Entry): Promise<void>;
  /** Loads the config file again; resolves once it is applied. */
  reload(): Promise<void>;
}

export class ConfigFileWriter implements ConfigWriter {
  readonly #parts: ConfigFileWriterParts;

  constructor(parts: ConfigFileWriterParts) {
    this.#parts = parts;
  }

  get location(): string {
    return this.#parts.configPath();
  }

  get context(): EntryContext {
    return { path: this.location, folder: dirname(this.location), env: this.#parts.env };
  }

  async check(): Promise<void> {
    serversIn(await parseObject(this.location, (await readConfigText(this.location)) ?? "{}"));
  }

  async confined(entry: Entry, from: Candidate["from"]): Promise<NewEntry> {
    const { folder, env } = this.context;
    const sandbox = { default: await sandboxOfFile(this.location) };
    return confined(entry, { folder, env, sandbox, foreign: from === "registry" });
  }

  async nameOf(entry: Entry): Promise<string | undefined> {
    // An unreadable file is reported by `check` before anything is written.
    const text = await readConfigText(this.location).catch(() => undefined);
    const parsed = text === undefined ? undefined : await parseText(text);
    return parsed && "value" in parsed && isKeys(parsed.value) ? nameIn(parsed.value, entry) : undefined;
  }

  async write(candidate: Candidate, entry: Entry): Promise<string> {
    const { home } = this.#parts;
    let name = "";
    await editJson(
      this.location,
      (file) => {
        // Another process may have written the entry meanwhile.
        const known = nameIn(file, entry);
        name = known ?? freeName(candidate.name, serversIn(file));
        return known === undefined ? [{ at: ["mcpServers", name], value: entry }] : [];
      },
      { home, now: this.#parts.now() },
    );
    return name;
  }

  async apply(entry: Entry): Promise<void> {
    await this.#parts.written(entry);
    await this.#parts.reload();
  }
}

/** `sandbox` for all servers of a config file. */
export async function sandboxOfFile(path: string): Promise<unknown> {
  const text = await readConfigText(path).catch(() => undefined);
  const parsed = text === undefined ? undefined : await parseText(text);
  const value = parsed && "value" in parsed && isKeys(parsed.value) ? parsed.value["sandbox"] : undefined;
  return value === false ? undefined : value;
}

function serversIn(file: Keys): Keys {
  const { mcpServers = {} } = file;
  if (!isKeys(mcpServers)) throw new Error("mcpServers in the config is not an object; fix it first");
  return mcpServers;
}

function nameIn(file: Keys, entry: Entry): string | undefined {
  const { mcpServers } = file;
  if (!isKeys(mcpServers)) return undefined;
  const wanted = what(entry);
  return Object.keys(mcpServers).find((name) => isDeepStrictEqual(what(mcpServers[name]), wanted));
}

/**
 * What an entry starts or calls. How long its process lives, and what it may touch, makes it no other server.
 */
function what(entry: unknown): unknown {
  if (!isKeys(entry)) return entry;
  const { lifecycle: _, sandbox: __, ...rest } = entry;
  return rest;
}
