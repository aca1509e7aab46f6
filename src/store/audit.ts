/** The audit log: batches of records, one row each, as a row for each record costs more than the rest of a call. */
import {
  type AuditBatch,
  AuditChain,
  type ChainEnd,
  type ChainedRecord,
  type ChainFault,
  FIRST_LINK,
  hashOf,
  recordsOf,
} from "./audit-chain.ts";
import { BATCH, endMark, endOf, insertBatch, lastEnd, readEndMark, sealedEndIn } from "./audit-end.ts";
import { matcherOf, within } from "./audit-match.ts";
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
import { toJson } from "./text.ts";

const ANCHOR = "audit-anchor";
/** Of batches: most have one record or hundreds, and one may have a megabyte. */
const READ_FIRST = 10;
const READ_AT_ONCE = 50;
/** An embedded database is searched in parts, as nothing else runs meanwhile. */
const SEARCHED_AT_ONCE = 10_000;
/** The place of a text in another, 0 where it is not there. */
const PLACE: Readonly<Record<SqlDialect, string>> = { sqlite: "instr", postgres: "strpos" };

/** A batch that was sent and not answered: it may have been written. */
interface Unanswered {
  readonly records: readonly AuditRecord[];
  readonly batch: AuditBatch;
}

/** What the next batch follows, and the stored end mark that it replaces. */
interface Head {
  readonly end: ChainEnd;
  readonly mark: string;
}

export class AuditTable implements Audit {
  readonly #database: Database;
  readonly #chain: AuditChain;
  #last: Promise<unknown> = Promise.resolve();
  #head: Head | undefined;
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

  async query(query: AuditQuery = {}): Promise<AuditPage> {
    const { after = -1, limit = 100, cursor } = query;
    const { lowest, highest } = await this.#bounds();
    // The batch that has the first record after it may begin so much before.
    const oldest = after + 1 - AUDIT_BATCH;
    const filter = this.#filter(query);
    const matches = matcherOf(query);
    const items: StoredAuditRecord[] = [];
    const step = this.#database.dialect === "sqlite" ? SEARCHED_AT_ONCE : Number.MAX_SAFE_INTEGER;
    let most = READ_FIRST;
    for (let below = Math.min(cursor ?? highest + 1, highest + 1); below > Math.max(lowest, oldest); ) {
      const low = Math.max(lowest, below - step);
      const { rows } = await this.#database.query(
        `SELECT first, lines FROM metamcp_audit
         WHERE first < ? AND first >= ? AND seq > ? ${filter.sql} ORDER BY first DESC LIMIT ?`,
        [below, low, after, ...filter.values, most],
      );
      for (const { lines } of rows)
        for (const record of recordsOf({ lines: String(lines) }).toReversed()) {
          if (!matches(record)) continue;
          items.push(parsed(record));
          if (items.length === limit) return { items, nextCursor: record.seq };
        }
      below = rows.length < most ? low : Number(rows.at(-1)?.["first"]);
      most = READ_AT_ONCE;
      await new Promise(setImmediate);
    }
    return { items };
  }

  async prune(before: number): Promise<number> {
    let removed = 0;
    for (;;) {
      const { records, more } = await this.#database.transaction((query) => this.#pruneSome(query, before), {
        lock: "prune",
      });
      removed += records;
      if (!more) return removed;
      await new Promise(setImmediate);
    }
  }

  async verify(): Promise<AuditVerdict> {
    const written = this.#written;
    const anchor = await this.#anchor();
    if (!anchor) return { ok: false, seq: 1, reason: "the retention mark was changed" };
    const { end: mark } = await readEndMark(this.#database.query, this.#chain);
    let end: ChainEnd = anchor;
    let count = 0;
    for (;;) {
      const { rows } = await this.#database.query(
        `SELECT ${BATCH} FROM metamcp_audit WHERE first > ? ORDER BY first LIMIT ?`,
        [end.seq, READ_AT_ONCE],
      );
      if (rows.length === 0) {
        if (!mark) return { ok: false, seq: end.seq + 1, reason: "the end mark was changed or removed" };
        return end.seq < Math.max(mark.seq, written.seq) ? missing(end) : { ok: true, count };
      }
      for (const batch of rows.map(batchOf)) {
        const fault = this.#chain.faultOf(end, batch) ?? replaced(batch, mark);
        if (fault) return await this.#fault(end, fault, count);
        end = batch;
        count += batch.seq - batch.first + 1;
      }
      await new Promise(setImmediate);
    }
  }

  async #append(records: readonly AuditRecord[]): Promise<void> {
    const sent = this.#unanswered?.records === records ? this.#unanswered.batch : undefined;
    if (sent && (await this.#arrived(sent))) return this.#wrote(sent);
    for (;;) {
      this.#head ??= await this.#readHead();
      const { end, mark } = this.#head;
      const batch = this.#chain.batch(end, records);
      this.#unanswered = { records, batch };
      this.#head = undefined;
      const marks = { before: mark, after: endMark(this.#chain, batch).text };
      if (await insertBatch(this.#database, batch, marks)) return this.#wrote(batch);
      // What was sent before may have arrived only now. Else another process was first: what it wrote is to be continued.
      if (sent?.hash === batch.hash && (await this.#arrived(batch))) return this.#wrote(batch);
    }
  }

  #wrote(batch: AuditBatch): void {
    this.#unanswered = undefined;
    this.#head = { end: batch, mark: endMark(this.#chain, batch).text };
    this.#written = batch;
  }

  async #arrived({ first, hash }: AuditBatch): Promise<boolean> {
    const { rows } = await this.#database.query("SELECT hash FROM metamcp_audit WHERE first = ?", [first]);
    return rows[0]?.["hash"] === hash;
  }

  /**
   * The latest of last batch, end mark and own last write. If batches were removed from the end, the numbers of the removed
   * records stay unused, and `verify` reports the gap. Without a valid mark one number stays unused for the same reason.
   */
  async #readHead(): Promise<Head> {
    const last = await lastEnd(this.#database.query);
    const { text, end } = await readEndMark(this.#database.query, this.#chain);
    const ends = [last, end ?? { seq: last.seq + 1, hash: "" }, this.#written];
    return { end: ends.reduce((a, b) => (b.seq > a.seq ? b : a)), mark: text };
  }

  /** What the oldest record follows. Undefined: it is not ours. */
  async #anchor(): Promise<ChainEnd | undefined> {
    const { rows } = await this.#database.query("SELECT value FROM metamcp_meta WHERE name = ?", [ANCHOR]);
    if (!rows[0]) return FIRST_LINK;
    const end = sealedEndIn(String(rows[0]["value"]));
    return end && this.#chain.isSealed(end, "anchor") ? end : undefined;
  }

  /**
   * The hash of the last one removed stays behind, for the first that is left. How old a batch is only counts where it is as
   * it was written: who could make it look old would have us remove it. The newest stays: the chain goes on from it.
   */
  async #pruneSome(query: Database["query"], before: number): Promise<Pruned> {
    const { rows } = await query(`SELECT ${BATCH} FROM metamcp_audit ORDER BY first LIMIT ?`, [
      READ_AT_ONCE + 1,
    ]);
    const intact = rows
      .slice(0, -1)
      .map(batchOf)
      .filter((batch) => this.#chain.isIntact(batch));
    const young = intact.findIndex(({ until }) => until >= before);
    const last = intact.at(young < 0 ? -1 : young - 1);
    if (!last || young === 0) return { records: 0, more: false };
    const anchor = this.#chain.sealed(last, "anchor");
    await query(
      "INSERT INTO metamcp_meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
      [ANCHOR, toJson(anchor)],
    );
    await query("DELETE FROM metamcp_audit WHERE first <= ?", [anchor.seq]);
    return { records: anchor.seq - Number(rows[0]?.["first"]) + 1, more: rows.length > READ_AT_ONCE };
  }

  /** Two questions in one: asked for both at once, SQLite reads the whole table. */
  async #bounds(): Promise<{ readonly lowest: number; readonly highest: number }> {
    const { rows } = await this.#database.query(
      `SELECT (SELECT min(first) FROM metamcp_audit) AS lowest,
       (SELECT seq FROM metamcp_audit ORDER BY first DESC LIMIT 1) AS highest`,
    );
    return { lowest: Number(rows[0]?.["lowest"] ?? 0), highest: Number(rows[0]?.["highest"] ?? -1) };
  }

  /** While it was looked at, old records may have been pruned. */
  async #fault(end: ChainEnd, { seq, reason }: ChainFault, count: number): Promise<AuditVerdict> {
    const anchor = await this.#anchor();
    if (!anchor || anchor.seq <= end.seq) return { ok: false, seq, reason: `record ${seq} ${reason}` };
    const rest = await this.verify();
    return rest.ok ? { ok: true, count: count + rest.count } : rest;
  }

  /** Batches that may have such a record. */
  #filter({ members = {}, from, to }: AuditQuery): Filter {
    const texts = Object.values(members).map(within);
    const conditions = texts.map(() => `AND ${PLACE[this.#database.dialect]}(lines, ?) > 0`);
    const values: SqlValue[] = [...texts];
    if (from !== undefined) conditions.push("AND until >= ?");
    if (to !== undefined) conditions.push("AND since < ?");
    values.push(...[from, to].filter((time) => time !== undefined));
    return { sql: conditions.join(" "), values };
  }
}

interface Pruned {
  readonly records: number;
  readonly more: boolean;
}

interface Filter {
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

function missing({ seq }: ChainEnd): AuditVerdict {
  return { ok: false, seq: seq + 1, reason: `record ${seq + 1} is missing` };
}

/** A genuine batch of an older copy can take the place of the marked one. Only its hash differs from the mark. */
function replaced({ first, seq, hash }: AuditBatch, mark: ChainEnd | undefined): ChainFault | undefined {
  const marked = mark && first <= mark.seq && mark.seq <= seq;
  return marked && hash !== mark.hash ? { seq: mark.seq, reason: "was replaced" } : undefined;
}

function batchOf(row: SqlRow): AuditBatch {
  const [first, since, until] = [row["first"], row["since"], row["until"]].map(Number) as [
    number,
    number,
    number,
  ];
  return { ...endOf(row), first, since, until, seal: String(row["seal"]), lines: String(row["lines"]) };
}

function parsed({ seq, at, body, line }: ChainedRecord): StoredAuditRecord {
  return { seq, at, hash: hashOf(line), body: JSON.parse(body) };
}
