/**
 * Config objects and their history. Each version of an object is a row. A revision consists of the rows that
 * were current at it.
 */
import type { Revision } from "../kernel/revision.ts";
import { chunks, type Database, placeholders, type Query, type SqlRow, type SqlValue } from "./database.ts";
import { StoreError } from "./error.ts";
import type { Feed } from "./feed.ts";
import type { Commit, NewObject, ObjectVersion, PastRevision, RevisionPage, StoreSnapshot } from "./store.ts";
import { checkText, toJson } from "./text.ts";

const COLUMNS =
  "o.uuid, o.since, o.kind, o.name, o.name_key, o.spec, o.managed_by, o.taken_from, o.created_at, o.updated_at";

/** One statement, so that revision and objects are consistent. */
const LOAD = `SELECT r.n AS newest, ${COLUMNS}
  FROM (SELECT coalesce(max(n), 0) AS n FROM metamcp_revisions) r LEFT JOIN metamcp_objects o ON o.until IS NULL
  ORDER BY o.created_at, o.uuid`;

const REVISION = `SELECT r.n, r.at, r.about, ${COLUMNS}
  FROM metamcp_revisions r
  LEFT JOIN metamcp_objects o ON o.since <= r.n AND (o.until IS NULL OR o.until > r.n)
  WHERE r.n = ? ORDER BY o.created_at, o.uuid`;

const INSERT = `INSERT INTO metamcp_objects
  (uuid, since, until, kind, name, name_key, spec, managed_by, taken_from, created_at, updated_at) VALUES `;
const ROW = "(?, ?, NULL, ?, ?, ?, ?, ?, ?, ?, ?)";

const PAGE = 100;

export class ConfigStore {
  readonly #database: Database;
  readonly #feed: Feed;
  readonly #now: () => number;

  constructor(database: Database, feed: Feed, now: () => number) {
    this.#database = database;
    this.#feed = feed;
    this.#now = now;
  }

  async load(): Promise<StoreSnapshot> {
    const { rows } = await this.#database.query(LOAD);
    return { revision: Number(rows[0]?.["newest"]), objects: objectsOf(rows) };
  }

  async commit(commit: Commit): Promise<Revision> {
    const { base, who, summary, at = iso(this.#now()) } = commit;
    check(commit);
    const revision: Revision = { n: base + 1, at, who, summary };
    await this.#database.transaction(
      async (query) => {
        await expectNewest(query, base);
        await write(query, commit, revision);
      },
      { lock: "commit", notify: true },
    );
    this.#feed.revision(revision.n);
    return revision;
  }

  async revisions({ before, limit = PAGE }: RevisionPage = {}): Promise<readonly Revision[]> {
    const where = before === undefined ? "" : "WHERE n < ?";
    const { rows } = await this.#database.query(
      `SELECT n, at, about FROM metamcp_revisions ${where} ORDER BY n DESC LIMIT ?`,
      before === undefined ? [limit] : [before, limit],
    );
    return rows.map(revisionOf);
  }

  async revision(n: number): Promise<PastRevision | undefined> {
    const { rows } = await this.#database.query(REVISION, [n]);
    const [first] = rows;
    return first && { ...revisionOf(first), objects: objectsOf(rows) };
  }
}

function check({ put, remove }: Commit): void {
  for (const { kind, uuid, name, nameKey, managedBy, takenFrom } of put)
    checkText(kind, uuid, name, nameKey, managedBy, takenFrom);
  const uuids = [...put.map(({ uuid }) => uuid), ...remove];
  if (new Set(uuids).size < uuids.length)
    throw new StoreError("invalid", "an object can be changed only once within a commit");
}

async function expectNewest(query: Query, base: number): Promise<void> {
  const { rows } = await query("SELECT coalesce(max(n), 0) AS newest FROM metamcp_revisions");
  const newest = Number(rows[0]?.["newest"]);
  if (newest !== base)
    throw new StoreError("conflict", `the newest revision is ${newest}, this change was made from ${base}`);
}

async function write(
  query: Query,
  { put, remove }: Commit,
  { n, at, who, summary }: Revision,
): Promise<void> {
  const now = Date.parse(at);
  await query("INSERT INTO metamcp_revisions (n, at, about) VALUES (?, ?, ?)", [
    n,
    now,
    toJson({ who, summary }),
  ]);
  const created = await creationTimes(query, put, remove);
  // All old versions end before any new one begins, because two objects may swap their names.
  for (const uuids of chunks([...put.map(({ uuid }) => uuid), ...remove]))
    await query(
      `UPDATE metamcp_objects SET until = ? WHERE until IS NULL AND uuid IN (${placeholders(uuids.length, "?")})`,
      [n, ...uuids],
    );
  for (const objects of chunks(put))
    await query(
      INSERT + placeholders(objects.length, ROW),
      objects.flatMap((object) => valuesOf(object, n, created.get(object.uuid) ?? now, now)),
    );
}

/**
 * Returns when each object was first created, because a restored object keeps that time. Rejects an invalid
 * commit.
 */
async function creationTimes(
  query: Query,
  put: readonly NewObject[],
  remove: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const createdAt = new Map<string, number>();
  const kinds = new Map(put.map(({ uuid, kind }) => [uuid, kind]));
  const live = new Set<SqlValue>();
  for (const uuids of chunks([...kinds.keys(), ...remove])) {
    const { rows } = await query(
      `SELECT uuid, kind, until, created_at FROM metamcp_objects WHERE uuid IN (${placeholders(uuids.length, "?")})`,
      uuids,
    );
    for (const { uuid, kind, until, created_at } of rows) {
      createdAt.set(String(uuid), Number(created_at));
      if (until === null) live.add(uuid as SqlValue);
      if ((kinds.get(String(uuid)) ?? kind) !== kind)
        throw new StoreError("invalid", `${uuid} is a ${kind} and stays one`);
    }
  }
  for (const uuid of remove)
    if (!live.has(uuid)) throw new StoreError("invalid", `there is no object ${uuid}`);
  return createdAt;
}

function valuesOf(object: NewObject, n: number, created: number, updated: number): readonly SqlValue[] {
  const { uuid, kind, name, nameKey, spec, managedBy, takenFrom } = object;
  return [uuid, n, kind, name, nameKey, toJson(spec), managedBy, takenFrom ?? null, created, updated];
}

/** Skips the row without object, which the outer join returns if there are no objects. */
function objectsOf(rows: readonly SqlRow[]): readonly ObjectVersion[] {
  return rows.filter(({ uuid }) => uuid !== null).map(objectOf);
}

function objectOf(row: SqlRow): ObjectVersion {
  const takenFrom = row["taken_from"];
  return {
    kind: String(row["kind"]),
    uuid: String(row["uuid"]),
    name: String(row["name"]),
    nameKey: String(row["name_key"]),
    spec: JSON.parse(String(row["spec"])),
    managedBy: String(row["managed_by"]),
    ...(takenFrom === null ? {} : { takenFrom: String(takenFrom) }),
    revision: Number(row["since"]),
    createdAt: iso(Number(row["created_at"])),
    updatedAt: iso(Number(row["updated_at"])),
  };
}

function revisionOf({ n, at, about }: SqlRow): Revision {
  const { who, summary } = JSON.parse(String(about)) as Pick<Revision, "who" | "summary">;
  return { n: Number(n), at: iso(Number(at)), who, summary };
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
