/** Logins at servers as the store has them: sealed, one for each server and account, in memory as long as they are there. No call asks the store. */
import type { RecordChange, Store } from "../store/store.ts";

/** The kind of record. */
export const SERVER_LOGIN = "server-login";

/** Of the gateway itself: for servers that all share. */
export const SHARED = "shared";

/** Whose login it is, and where. */
export interface LoginPlace {
  /** Uuid. */
  readonly server: string;
  /** Uuid, or `SHARED`. */
  readonly account: string;
}

interface Stored extends LoginPlace {
  /** Missing where it was logged out: other processes learn of it by this. */
  readonly sealed?: string;
}

export interface KeptLogin extends LoginPlace {
  readonly sealed: string;
  readonly version: number;
}

/** So long a logout is told to processes that could not hear it. */
const TOLD_MS = 24 * 60 * 60_000;

export class LoginRecords {
  readonly #store: Pick<Store, "records" | "sealer">;
  readonly #listeners = new Set<(place: LoginPlace) => void>();
  readonly #logins = new Map<string, KeptLogin>();
  /** The last that was seen of each, ended ones too: what is read late changes nothing. */
  readonly #seen = new Map<string, number>();
  #version = 0;
  #reading: Promise<void> = Promise.resolve();

  constructor(store: Pick<Store, "records" | "sealer">) {
    this.#store = store;
  }

  get all(): Iterable<KeptLogin> {
    return this.#logins.values();
  }

  /** The same object until it changes. */
  at(place: LoginPlace): KeptLogin | undefined {
    return this.#logins.get(idOf(place));
  }

  /** As the store has it at this moment; 0 is the version of none. */
  async fresh(
    place: LoginPlace,
  ): Promise<{ readonly login: KeptLogin | undefined; readonly version: number }> {
    const record = await this.#store.records.get(SERVER_LOGIN, idOf(place));
    if (!record) return { login: undefined, version: 0 };
    this.#take(record.value as Stored, record.version);
    return { login: this.at(place), version: record.version };
  }

  /** Runs when a login was made, renewed or ended. Returns what ends it. */
  on(listener: (place: LoginPlace) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Reads what was written since it last did; `anew`: everything. One after the other. */
  load(anew = false): Promise<void> {
    const next = this.#reading.then(async () => {
      const since = anew ? 0 : this.#version;
      const records = await this.#store.records.list(SERVER_LOGIN, { since });
      if (anew) {
        const there = new Set(records.map(({ id }) => id));
        for (const [id, login] of this.#logins) if (!there.has(id)) this.#forget(login);
      }
      for (const { value, version } of records) {
        this.#version = Math.max(this.#version, version);
        this.#take(value as Stored, version);
      }
    });
    this.#reading = next.catch(() => {});
    return next;
  }

  /** Rejects with "conflict" where it is not of this version any more. */
  async put(place: LoginPlace, sealed: string, ifVersion: number): Promise<void> {
    const value = { ...place, sealed } satisfies Stored;
    const { version } = await this.#store.records.put({
      kind: SERVER_LOGIN,
      id: idOf(place),
      value,
      ifVersion,
    });
    this.#take(value, version);
  }

  async remove(places: readonly LoginPlace[]): Promise<void> {
    if (places.length === 0) return;
    await this.#store.records.write(removal(places));
    await this.load();
  }

  /** What takes all logins of an account away. */
  removalOf(account: string): readonly RecordChange[] {
    return removal([...this.#logins.values()].filter((login) => login.account === account));
  }

  #take(value: Stored, version: number): void {
    const { server, account, sealed } = value;
    const place = { server, account };
    const id = idOf(place);
    if (version <= (this.#seen.get(id) ?? 0)) return;
    this.#seen.set(id, version);
    if (sealed === undefined) this.#forget(place);
    else {
      this.#logins.set(id, { ...place, sealed, version });
      this.#tell(place);
    }
  }

  #forget(place: LoginPlace): void {
    if (this.#logins.delete(idOf(place))) this.#tell(place);
  }

  #tell(place: LoginPlace): void {
    for (const listener of this.#listeners) listener(place);
  }
}

function removal(places: readonly LoginPlace[]): readonly RecordChange[] {
  const expiresAt = Date.now() + TOLD_MS;
  return places.map(({ server, account }) => ({
    put: {
      kind: SERVER_LOGIN,
      id: idOf({ server, account }),
      value: { server, account } satisfies Stored,
      expiresAt,
    },
  }));
}

function idOf({ server, account }: LoginPlace): string {
  return `${server} ${account}`;
}
