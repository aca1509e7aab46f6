/** The config file of the personal mode, as the place where servers that were added are written down. */
import { dirname } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Surroundings } from "../config/dial.ts";
import { editJson, understand } from "../config/edit.ts";
import { isKeys, type Keys } from "../config/field.ts";
import { readConfigText } from "../config/load.ts";
import { parseText } from "../config/parse.ts";
import type { Env } from "../home/home.ts";
import type { Candidate, Entry } from "./candidate.ts";
import { freeName } from "./free-name.ts";
import type { Ledger } from "./ledger.ts";

export interface FileLedgerParts {
  readonly home: string;
  readonly env: Env;
  now(): Date;
  /** The file in use, be it there or not. */
  configPath(): string;
  /** The user agreed to this entry, which now stands in the config file. */
  written(entry: Entry): Promise<void>;
  /** Takes over the config file as it is; resolves once it holds. */
  reload(): Promise<void>;
}

export class FileLedger implements Ledger {
  readonly #parts: FileLedgerParts;

  constructor(parts: FileLedgerParts) {
    this.#parts = parts;
  }

  get place(): string {
    return this.#parts.configPath();
  }

  get around(): Surroundings {
    return { path: this.place, folder: dirname(this.place), env: this.#parts.env };
  }

  async check(): Promise<void> {
    serversIn(await understand(this.place, (await readConfigText(this.place)) ?? "{}"));
  }

  async nameOf(entry: Entry): Promise<string | undefined> {
    // One that cannot be read is said where it is to be written.
    const text = await readConfigText(this.place).catch(() => undefined);
    const parsed = text === undefined ? undefined : await parseText(text);
    return parsed && "value" in parsed && isKeys(parsed.value) ? nameIn(parsed.value, entry) : undefined;
  }

  async write(candidate: Candidate, entry: Entry): Promise<string> {
    const { home } = this.#parts;
    let name = "";
    await editJson(
      this.place,
      (file) => {
        // Another MetaMCP may have been quicker.
        const known = nameIn(file, entry);
        name = known ?? freeName(candidate.name, serversIn(file));
        return known === undefined ? [{ at: ["mcpServers", name], value: entry }] : [];
      },
      { home, now: this.#parts.now() },
    );
    return name;
  }

  async take(entry: Entry): Promise<void> {
    await this.#parts.written(entry);
    await this.#parts.reload();
  }
}

function serversIn(file: Keys): Keys {
  const { mcpServers = {} } = file;
  if (!isKeys(mcpServers)) throw new Error("mcpServers in the config is not an object; fix it first");
  return mcpServers;
}

function nameIn(file: Keys, entry: Entry): string | undefined {
  const { mcpServers } = file;
  if (!isKeys(mcpServers)) return undefined;
  return Object.keys(mcpServers).find((name) => isDeepStrictEqual(mcpServers[name], entry));
}
