/**
 * Records of keys, accounts and other operational data. Writes of one kind run one after the other, across
 * all processes. They expire by the time of the database.
 */
import type { Database, Query, SqlRow, SqlValue } from "./database.ts";
import type { DatabaseTime } from "./database-time.ts";
import { StoreError } from "./error.ts";
import type { Feed } from "./feed.ts";
import type { NewRecord, RecordChange, RecordPage, Records, StoredRecord } from "./store.ts";
import { checkText, toJson } from "./text.ts";

const SELECT = "SELECT kind, id, value, version, unique_key, expires_at FROM metamcp_records";
const LIVE = "(expires_at IS NULL OR expires_at > ?)";

/** Locks the kind until the transaction ends, so that later reads in the transaction stay valid. */
export const NEXT_VERSION = `INSERT INTO metamcp_record_kinds (kind, version) VALUES (?, 1)
  ON CONFLICT (kind) DO UPDATE SET version = metamcp_record_kinds.version + 1 RETURNING version`;

const UPSERT = `INSERT INTO metamcp_records (kind, id, value, version, unique_key, expires_at) VALUES (?, ?, ?, ?, ?, ?)
  ON CONFLICT (kind, id) DO UPDATE SET value = excluded.value, version = excluded.version,
  unique_key = excluded.unique_key, expires_at = excluded.expires_at`;

export class RecordTable implements Records {
  readonly #database: Database;
  readonly #feed: Feed;
  readonly #time: DatabaseTime;

  constructor(database: Database, feed: Feed, time: DatabaseTime) {
    this.#database = database;
    this.#feed = feed;
    this.#time = time;
  }

  async get(kind: string, id: string): Promise<StoredRecord | undefined> {
    return await this.#one("id", kind, id);
  }

  async find(kind: string, key: string): Promise<StoredRecord | undefined> {
    return await this.#one("unique_key", kind, key);
  }

  async list(kind: string, { after, since, limit }: RecordPage = {}): Promise<readonly StoredRecord[]> {
    const clauses: readonly (readonly [string, SqlValue | undefined])[] = [
      ["AND id > ?", after],
      ["AND version > ?", since],
      ["ORDER BY id LIMIT ?", limit],
    ];
    const given = clauses.flatMap(([sql, value]) => (value === undefined ? [] : [{ sql, value }]));
    const { rows } = await this.#database.query(
      `${SELECT} WHERE kind = ? AND ${LIVE} ${given.map(({ sql }) => sql).join(" ")} ${limit === undefined ? "ORDER BY id" : ""}`,
      [kind, this.#time.now, ...given.map(({ value }) => value)],
    );
    return rows.map((row) => recordOf(row, this.#time));
  }

  async put(record: NewRecord): Promise<StoredRecord> {
    const [version] = await this.#write([{ put: record }]);
    const { ifVersion: _, ...rest } = record;
    return { ...rest, version: version as number };
  }

  async delete(kind: string, id: string): Promise<boolean> {
    const [version] = await this.#write([{ delete: { kind, id } }]);
    return version !== 0;
  }

  async write(changes: readonly RecordChange[]): Promise<void> {
    await this.#write(changes);
  }

  /** Deletes expired records. */
  async sweep(): Promise<void> {
    await this.#database.query("DELETE FROM metamcp_records WHERE expires_at <= ?", [this.#time.now]);
  }

  async #one(column: "id" | "unique_key", kind: string, value: string): Promise<StoredRecord | undefined> {
    const { rows } = await this.#database.query(`${SELECT} WHERE kind = ? AND ${column} = ? AND ${LIVE}`, [
      kind,
      value,
      this.#time.now,
    ]);
    return rows[0] && recordOf(rows[0], this.#time);
  }

  /** Returns the version that each change wrote; 0 for a delete of an unknown record. */
  async #write(changes: readonly RecordChange[]): Promise<readonly number[]> {
    for (const change of changes) {
      const { kind, id } = subjectOf(change);
      checkText(kind, id, "put" in change ? change.put.key : undefined);
    }
    const time = this.#time;
    const { versions, written } = await this.#database.transaction(
      async (query) => {
        const versions = await nextVersions(query, changes);
        const written: number[] = [];
        for (const change of changes) {
          const version = versions.get(subjectOf(change).kind) as number;
          written.push(await apply(query, change, version, time));
        }
        return { versions, written };
      },
      { notify: true },
    );
    for (const [kind, version] of versions) this.#feed.records(kind, version);
    return written;
  }
}

function subjectOf(change: RecordChange): {
  readonly kind: string;
  readonly id: string;
  readonly ifVersion?: number;
} {
  return "put" in change ? change.put : change.delete;
}

/** Locks kinds in sorted order, so that two writers cannot deadlock. */
async function nextVersions(
  query: Query,
  changes: readonly RecordChange[],
): Promise<ReadonlyMap<string, number>> {
  const versions = new Map<string, number>();
  const kinds = new Set(changes.map((change) => subjectOf(change).kind));
  for (const kind of [...kinds].sort())
    versions.set(kind, Number((await query(NEXT_VERSION, [kind])).rows[0]?.["version"]));
  return versions;
}

async function apply(
  query: Query,
  change: RecordChange,
  version: number,
  time: DatabaseTime,
): Promise<number> {
  const { kind, id, ifVersion } = subjectOf(change);
  const key = ("put" in change ? change.put.key : undefined) ?? null;
  await query(
    "DELETE FROM metamcp_records WHERE kind = ? AND (id = ? OR unique_key = ?) AND expires_at <= ?",
    [kind, id, key, time.now],
  );
  if (ifVersion !== undefined) {
    const { rows } = await query("SELECT version FROM metamcp_records WHERE kind = ? AND id = ?", [kind, id]);
    const current = Number(rows[0]?.["version"] ?? 0);
    if (current !== ifVersion)
      throw new StoreError("conflict", `${kind} ${id} is at version ${current}, not ${ifVersion}`);
  }
  if ("put" in change) {
    const { value, expiresAt } = change.put;
    const until = expiresAt === undefined ? null : time.of(expiresAt);
    await query(UPSERT, [kind, id, toJson(value), version, key, until]);
    return version;
  }
  const { count } = await query("DELETE FROM metamcp_records WHERE kind = ? AND id = ?", [kind, id]);
  return count > 0 ? version : 0;
}

function recordOf(
  { kind, id, value, version, unique_key, expires_at }: SqlRow,
  time: DatabaseTime,
): StoredRecord {
  return {
    kind: String(kind),
    id: String(id),
    value: JSON.parse(String(value)),
    version: Number(version),
    ...(unique_key === null ? {} : { key: String(unique_key) }),
    ...(expires_at === null ? {} : { expiresAt: time.toLocal(Number(expires_at)) }),
  };
}
