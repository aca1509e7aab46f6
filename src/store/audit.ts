/** The audit log. Rows are numbered without gaps, so two writers cannot both continue the same record. */
import { AuditChain, type ChainEnd, type ChainedRow, FIRST_LINK, type SealedLink } from "./audit-chain.ts";
import type { Database, SqlDialect, SqlRow, SqlValue } from "./database.ts";
import { StoreError } from "./error.ts";
import {
  AUDIT_BATCH,
  type Audit,
  type AuditPage,
  type AuditQuery,
  type AuditRecord,
  type AuditVerdict,
  type StoredAuditRecord,
} from "./store.ts";
import { fitText, toJson } from "./text.ts";

/** All rows go in as one JSON text: values by the thousand cost more than the rest of the batch. */
const ROWS: Readonly<Record<SqlDialect, string>> = {
  sqlite: "json_each(?)",
  postgres: "json_array_elements(CAST(? AS json)) AS batch (value)",
};

const ANCHOR = "audit-anchor";
const VERIFIED_AT_ONCE = 1_000;
const PRUNED_AT_ONCE = 5_000;
/** An embedded database is searched in parts, as nothing else runs meanwhile. */
const SEARCHED_AT_ONCE = 10_000;

/** A batch that was sent and not answered: it may have been written. */
interface Unanswered {
  readonly records: readonly AuditRecord[];
  readonly last: ChainEnd;
}

export class AuditTable implements Audit {
  readonly #database: Database;
  readonly #chain: AuditChain;
  #last: Promise<unknown> = Promise.resolve();
  #head: ChainEnd | undefined;
  /** The last that this process wrote. */
  #written = FIRST_LINK;
  #unanswered: Unanswered | undefined;

  /** `key`: no part of the database, the same in every process. */
  constructor(database: Database, key: Buffer) {
    this.#database = database;
    this.#chain = new AuditChain(key);
  }

  async append(records: readonly AuditRecord[]): Promise<void> {
    if (records.length > AUDIT_BATCH)
      throw new StoreError("invalid", `an audit batch holds at most ${AUDIT_BATCH} records`);
    if (records.length === 0) return;
    const turn = this.#last.then(() => this.#append(records));
    this.#last = turn.catch(() => {});
    await turn;
  }

  async query({ fields = {}, from, to, after, limit = 100, cursor }: AuditQuery = {}): Promise<AuditPage> {
    const { lowest: first, highest } = await this.#bounds();
    const lowest = Math.max(first, (after ?? -1) + 1);
    const filter = this.#filter(fields, from, to);
    const items: StoredAuditRecord[] = [];
    const step = this.#database.dialect === "sqlite" ? SEARCHED_AT_ONCE : Number.MAX_SAFE_INTEGER;
    for (let below = Math.min(cursor ?? highest + 1, highest + 1); below > lowest; ) {
      const low = Math.max(lowest, below - step);
      const { rows } = await this.#database.query(
        `SELECT seq, at, hash, fields, body FROM metamcp_audit
         WHERE seq < ? AND seq >= ? ${filter.sql} ORDER BY seq DESC LIMIT ?`,
        [below, low, ...filter.values, limit - items.length],
      );
      items.push(...rows.map(recordOf));
      if (items.length >= limit) return { items, nextCursor: (items.at(-1) as StoredAuditRecord).seq };
      below = low;
      await new Promise(setImmediate);
    }
    return { items };
  }

  async prune(before: number): Promise<number> {
    let removed = 0;
    for (;;) {
      const count = await this.#database.transaction((query) => this.#pruneSome(query, before), {
        lock: "prune",
      });
      removed += count;
      if (count < PRUNED_AT_ONCE) return removed;
      await new Promise(setImmediate);
    }
  }

  async verify(): Promise<AuditVerdict> {
    const written = this.#written;
    const anchor = await this.#anchor();
    if (!anchor) return { ok: false, seq: 1, reason: "the mark of what retention removed was changed" };
    let link: ChainEnd = anchor;
    let count = 0;
    for (;;) {
      const { rows } = await this.#database.query(
        "SELECT seq, at, hash, fields, body FROM metamcp_audit WHERE seq > ? ORDER BY seq LIMIT ?",
        [link.seq, VERIFIED_AT_ONCE],
      );
      if (rows.length === 0) return link.seq < written.seq ? missing(link) : { ok: true, count };
      for (const row of rows.map(chainedOf)) {
        const fault = this.#chain.faultOf(link, row);
        if (fault) return await this.#fault(link, fault, count);
        link = row;
        count++;
      }
      await new Promise(setImmediate);
    }
  }

  async #append(records: readonly AuditRecord[]): Promise<void> {
    if (this.#unanswered?.records === records && (await this.#arrived(this.#unanswered.last))) return;
    const written = records.map(({ at, fields, body }) => ({
      at,
      fields: fieldsText(fields),
      body,
    }));
    for (;;) {
      this.#head ??= await this.#readHead();
      const rows = this.#chain.rows(this.#head, written);
      const last = rows.at(-1) as ChainEnd;
      this.#unanswered = { records, last };
      this.#head = undefined;
      // Another process was first where it was not inserted: what it wrote is to be continued.
      if (!(await this.#insert(rows))) continue;
      this.#unanswered = undefined;
      this.#head = last;
      this.#written = last;
      return;
    }
  }

  async #insert(rows: readonly ChainedRow[]): Promise<boolean> {
    const values = rows.map(({ seq, at, hash, fields, body }) => [seq, at, hash, fields, body]);
    try {
      const { count } = await this.#database.query(
        `INSERT INTO metamcp_audit (seq, at, hash, fields, body)
         SELECT CAST(value ->> 0 AS BIGINT), CAST(value ->> 1 AS BIGINT), value ->> 2, value ->> 3, value ->> 4
         FROM ${ROWS[this.#database.dialect]} WHERE NOT EXISTS (SELECT 1 FROM metamcp_audit WHERE seq >= ?)`,
        [toJson(values), (rows[0] as ChainedRow).seq],
      );
      return count > 0;
    } catch (error) {
      // Both looked at the same moment: the number decides.
      if (StoreError.is(error, "taken")) return false;
      throw error;
    }
  }

  async #arrived({ seq, hash }: ChainEnd): Promise<boolean> {
    const { rows } = await this.#database.query("SELECT hash FROM metamcp_audit WHERE seq = ?", [seq]);
    this.#unanswered = undefined;
    return rows[0]?.["hash"] === hash;
  }

  async #readHead(): Promise<ChainEnd> {
    const { rows } = await this.#database.query(
      "SELECT seq, hash FROM metamcp_audit ORDER BY seq DESC LIMIT 1",
    );
    return rows[0] ? linkOf(rows[0]) : FIRST_LINK;
  }

  /** What the oldest record follows. Undefined: it is not ours. */
  async #anchor(): Promise<ChainEnd | undefined> {
    const { rows } = await this.#database.query("SELECT value FROM metamcp_meta WHERE name = ?", [ANCHOR]);
    if (!rows[0]) return FIRST_LINK;
    const link = JSON.parse(String(rows[0]["value"])) as SealedLink;
    return this.#chain.isSealed(link) ? link : undefined;
  }

  /** The hash of the last one removed stays behind, for the first that is left. */
  async #pruneSome(query: Database["query"], before: number): Promise<number> {
    const { rows } = await query("SELECT seq, at, hash FROM metamcp_audit ORDER BY seq LIMIT ?", [
      PRUNED_AT_ONCE + 1,
    ]);
    const young = rows.findIndex(({ at }) => Number(at) >= before);
    const count = young < 0 ? rows.length - 1 : young;
    if (count <= 0) return 0;
    const anchor = this.#chain.sealed(linkOf(rows[count - 1] as SqlRow));
    await query(
      "INSERT INTO metamcp_meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
      [ANCHOR, toJson(anchor)],
    );
    await query("DELETE FROM metamcp_audit WHERE seq <= ?", [anchor.seq]);
    return count;
  }

  /** Two questions in one: asked for both at once, SQLite reads the whole table. */
  async #bounds(): Promise<{ readonly lowest: number; readonly highest: number }> {
    const { rows } = await this.#database.query(
      "SELECT (SELECT min(seq) FROM metamcp_audit) AS lowest, (SELECT max(seq) FROM metamcp_audit) AS highest",
    );
    return { lowest: Number(rows[0]?.["lowest"] ?? 0), highest: Number(rows[0]?.["highest"] ?? -1) };
  }

  /** While it was looked at, old records may have been pruned. */
  async #fault(link: ChainEnd, fault: string, count: number): Promise<AuditVerdict> {
    const anchor = await this.#anchor();
    if (!anchor || anchor.seq <= link.seq)
      return { ok: false, seq: link.seq + 1, reason: `record ${link.seq + 1} ${fault}` };
    const rest = await this.verify();
    return rest.ok ? { ok: true, count: count + rest.count } : rest;
  }

  #filter(fields: Readonly<Record<string, string>>, from?: number, to?: number): Filter {
    const column = this.#database.dialect === "sqlite" ? "fields" : "CAST(fields AS json)";
    const conditions: string[] = [];
    const values: SqlValue[] = [];
    if (from !== undefined) conditions.push("at >= ?");
    if (to !== undefined) conditions.push("at < ?");
    values.push(...[from, to].filter((time) => time !== undefined));
    for (const [name, value] of Object.entries(fields)) {
      conditions.push(`${column} ->> CAST(? AS TEXT) = ?`);
      values.push(fitText(name), fitText(value));
    }
    return { sql: conditions.map((condition) => `AND ${condition}`).join(" "), values };
  }
}

interface Filter {
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

function missing({ seq }: ChainEnd): AuditVerdict {
  return { ok: false, seq: seq + 1, reason: `record ${seq + 1} is missing` };
}

/** Postgres reads this JSON when asked for a field, and fails at what it cannot hold. */
function fieldsText(fields: AuditRecord["fields"]): string {
  const text = toJson(fields);
  // JSON writes both as escapes, so one look tells whether there are any.
  if (!/\\u(?:0000|d[89a-f])/.test(text)) return text;
  const there = Object.entries(fields).filter((field): field is [string, string] => field[1] !== undefined);
  return toJson(Object.fromEntries(there.map((field) => field.map(fitText))));
}

function linkOf({ seq, hash }: SqlRow): ChainEnd {
  return { seq: Number(seq), hash: String(hash) };
}

function chainedOf(row: SqlRow): ChainedRow {
  return { ...linkOf(row), at: Number(row["at"]), fields: String(row["fields"]), body: String(row["body"]) };
}

function recordOf(row: SqlRow): StoredAuditRecord {
  const { fields, body, ...rest } = chainedOf(row);
  return { ...rest, fields: JSON.parse(fields) as Record<string, string>, body: JSON.parse(body) };
}
