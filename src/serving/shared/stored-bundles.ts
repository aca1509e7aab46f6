/**
 * Bundles of servers on a store that several gateways share. An entry names bundle and checksum below
 * `${METAMCP_BUNDLES}`, which is a folder of each gateway; the store knows where the bundle comes from. A
 * gateway that does not have it unpacks it before it starts the server.
 */
import { existsSync } from "node:fs";
import { join, sep } from "node:path";
import type { ServerSpec } from "../../config/spec.ts";
import type { Env } from "../../home/home.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Candidate, Entry } from "../../provision/candidate.ts";
import type { Store } from "../../store/store.ts";

/** The variable of entries. */
export const BUNDLES = "METAMCP_BUNDLES";
/** The kind of record. Its id is the path of the bundle below the folder of bundles. */
const BUNDLE = "bundle";

export interface StoredBundlesParts {
  readonly home: string;
  readonly clock: Clock;
  readonly env: Env;
}

export class StoredBundles {
  readonly #records: Store["records"];
  readonly #parts: StoredBundlesParts;
  readonly #folder: string;
  readonly #unpacking = new Map<string, Promise<void>>();

  constructor({ records }: Pick<Store, "records">, parts: StoredBundlesParts) {
    this.#records = records;
    this.#parts = parts;
    this.#folder = join(parts.home, "bundles");
  }

  /** Stores where an unpacked bundle comes from. Returns its entry as all gateways can use it. */
  async share({ id: server, version, name, bundle }: Candidate, entry: Entry): Promise<Entry> {
    const [id] = "command" in entry ? this.#bundlesIn([entry.command, ...(entry.args ?? [])]) : [];
    if (id === undefined) return entry;
    // Without the environment, which may contain secrets.
    await this.#records.put({ kind: BUNDLE, id, value: { id: server, version, name, bundle } });
    return this.named(entry);
  }

  /** The entry with the variable instead of the folder of this gateway. */
  named(entry: Entry): Entry {
    const folder = JSON.stringify(`${this.#folder}${sep}`).slice(1, -1);
    return JSON.parse(JSON.stringify(entry).replaceAll(folder, `\${${BUNDLES}}${sep}`)) as Entry;
  }

  /** Resolves when the bundle that the server needs is here. */
  async ready(spec: ServerSpec): Promise<void> {
    if (spec.kind !== "stdio") return;
    for (const id of this.#bundlesIn([spec.command, ...spec.args])) {
      if (existsSync(join(this.#folder, id, "manifest.json"))) continue;
      const unpacking = this.#unpacking.get(id) ?? this.#unpack(id).finally(() => this.#unpacking.delete(id));
      this.#unpacking.set(id, unpacking);
      await unpacking;
    }
  }

  async #unpack(id: string): Promise<void> {
    const { home, clock, env } = this.#parts;
    const record = await this.#records.get(BUNDLE, id);
    // Not one of ours: its start says what is missing.
    if (!record) return;
    const { fetchBundle } = await import("../../provision/registry/bundle.ts");
    const known = record.value as Pick<Candidate, "id" | "version" | "name" | "bundle">;
    const candidate = { ...known, entry: { command: "" }, variables: [] } as unknown as Candidate;
    await fetchBundle(candidate, { home, clock, env });
  }

  /** The bundles that these texts name, as paths below the folder of bundles. */
  #bundlesIn(texts: readonly string[]): readonly string[] {
    const ids = texts.flatMap((text) => {
      if (!text.startsWith(`${this.#folder}${sep}`)) return [];
      const [server = "", version = ""] = text.slice(this.#folder.length + 1).split(sep);
      return /-[0-9a-f]{16}$/.test(version) ? [`${server}/${version}`] : [];
    });
    return [...new Set(ids)];
  }
}
