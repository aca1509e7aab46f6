/**
 * The audit log in the database: one row per batch of records, because a row per record would cost more than
 * the rest of a call.
 */

import { Sequencer } from "../kernel/sequencer.ts";
import {
  type AuditBatch,
  AuditChain,
  type ChainEnd,
  type ChainedRecord,
  type ChainFault,
  EMPTY_CHAIN,
  hashesOf,
  hashOf,
  recordsOf,
} from "./audit-chain.ts";
import {
  BATCH,
  endMark,
  endOf,
  insertBatch,
  insertWith,
  lastEnd,
  lockEnd,
  markIn,
  readEndMark,
  sealedEndIn,
} from "./audit-end.ts";
import { lostIn } from "./audit-lost.ts";
import { inJson, matcherOf } from "./audit-match.ts";
import { UnfinishedCalls } from "./audit-unfinished.ts";
import type { Database, Query, SqlDialect, SqlRow, SqlValue } from "./database.ts";
import { StoreError } from "./error.ts";
import { reclaim } from "./sqlite/space.ts";
import {
  type AppendedRecords,
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
/** Batches per read. Most have one record or hundreds, and one may have a megabyte. */
const READ_FIRST = 10;
const READ_AT_ONCE = 50;
/**
 * Attempts to append a batch. Each fails only because another gateway was first, unless the table was changed
 * by hand.
 */
const MAX_ATTEMPTS = 100;
/** After so many the end is held while the batch is made, which takes some more statements. */
const MAX_RACES = 4;
const IN_TURN_STATEMENTS = 5;
/** Records per query in an embedded database, because nothing else runs during a query. */
const SEARCH_STEP = 10_000;
/** The SQL function for the position of a text in another; 0 if it is not found. */
const POSITION: Readonly<Record<SqlDialect, string>> = { sqlite: "instr", postgres: "strpos" };

/** A batch that was sent without an answer. It may have been written. */
interface UnconfirmedBatch {
  readonly records: readonly AuditRecord[];
  readonly batch: AuditBatch;
}

interface Appended {
  readonly batch: AuditBatch;
  readonly statements: number;
}

/** The end that the next batch follows, and the stored end mark that it replaces. */
interface Head {
  readonly end: ChainEnd;
  readonly mark: string;
}

export class AuditTable implements Audit {
  readonly #database: Database;
  readonly #chain: AuditChain;
  readonly #queue = new Sequencer();
  #head: Head | undefined;
  /** The last batch that this process wrote. */
  #written = EMPTY_CHAIN;
  #unconfirmed: UnconfirmedBatch | undefined;

  /** `key` is not stored in the database and is the same in every process. */
  constructor(database: Database, key: Buffer) {
    this.#database = database;
    this.#chain = new AuditChain(key);
  }

  async append(records: readonly AuditRecord[]): Promise<AppendedRecords> {
    if (records.length > AUDIT_BATCH)
      throw new StoreError("invalid", `an audit batch holds at most ${AUDIT_BATCH} records`);
    if (records.length === 0) return { first: 0, hashes: () => [], statements: 0 };
    const { batch, statements } = await this.#queue.run(() => this.#append(records));
    return { first: batch.first, hashes: () => hashesOf(batch), statements };
  }

  async query(query: AuditQuery = {}): Promise<AuditPage> {
    const { after = -1, limit = 100, cursor } = query;
    const { lowest, highest } = await this.#bounds();
    // The batch with record `after + 1` may begin up to `AUDIT_BATCH` records earlier.
    const oldest = after + 1 - AUDIT_BATCH;
    const filter = this.#filter(query);
    const matches = matcherOf(query);
    const items: StoredAuditRecord[] = [];
    const step = this.#database.dialect === "sqlite" ? SEARCH_STEP : Number.MAX_SAFE_INTEGER;
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
      if (!more) break;
      await new Promise(setImmediate);
    }
    if (removed > 0 && this.#database.dialect === "sqlite") await reclaim(this.#database.query);
    return removed;
  }

  async verify(): Promise<AuditVerdict> {
    const written = this.#written;
    const anchor = await this.#anchor();
    if (!anchor) return { ok: false, seq: 1, reason: "the retention mark was changed" };
    const { end: mark } = await readEndMark(this.#database.query, this.#chain);
    let end: ChainEnd = anchor;
    let count = 0;
    let lost = 0;
    const unfinished = new UnfinishedCalls();
    for (;;) {
      const { rows } = await this.#database.query(
        `SELECT ${BATCH} FROM metamcp_audit WHERE first > ? ORDER BY first LIMIT ?`,
        [end.seq, READ_AT_ONCE],
      );
      if (rows.length === 0) {
        if (!mark) return { ok: false, seq: end.seq + 1, reason: "the end mark was changed or removed" };
        if (end.seq < Math.max(mark.seq, written.seq)) return missing(end);
        const open = unfinished.count;
        return { ok: true, count, ...(lost > 0 && { lost }), ...(open > 0 && { unfinished: open }) };
      }
      for (const batch of rows.map(batchOf)) {
        const fault = this.#chain.faultOf(end, batch) ?? replaced(batch, mark);
        if (fault) return await this.#fault(end, fault, count);
        end = batch;
        count += batch.seq - batch.first + 1;
        lost += lostIn(batch.lines);
        unfinished.read(batch.lines);
      }
      await new Promise(setImmediate);
    }
  }

  async #append(records: readonly AuditRecord[]): Promise<Appended> {
    let sent = this.#unconfirmed?.records === records ? this.#unconfirmed.batch : undefined;
    for (let statements = 1; statements <= MAX_ATTEMPTS; statements += 1) {
      if (sent || statements > MAX_RACES) {
        const batch = await this.#appendInTurn(records, sent);
        if (batch) return this.#confirm(batch, statements + IN_TURN_STATEMENTS);
        sent = undefined;
      }
      if (!this.#head) {
        this.#head = await this.#readHead(this.#database.query);
        statements += 2;
      }
      const { end, mark } = this.#head;
      const batch = this.#chain.batch(end, records);
      this.#unconfirmed = { records, batch };
      this.#head = undefined;
      const marks = { before: mark, after: endMark(this.#chain, batch).text };
      const now = await insertBatch(this.#database, batch, marks);
      if (now === marks.after) return this.#confirm(batch, statements);
      // Another process was first, and the chain continues after its batch.
      this.#head = this.#headAt(now);
    }
    throw new StoreError("unavailable", "no free number for the next audit batch was found");
  }

  /**
   * Holds the end while the batch is made: a process that is slow would lose every race. Nothing can come
   * between, so it is also the way to learn whether a batch that was sent is stored. Undefined if another
   * process wrote without a look at the end mark.
   */
  async #appendInTurn(
    records: readonly AuditRecord[],
    sent: AuditBatch | undefined,
  ): Promise<AuditBatch | undefined> {
    this.#head = undefined;
    const { dialect } = this.#database;
    try {
      return await this.#database.transaction(async (query) => {
        await lockEnd(query, dialect);
        if (sent && (await isStored(sent, query))) return sent;
        const { end, mark } = await this.#readHead(query);
        const batch = this.#chain.batch(end, records);
        this.#unconfirmed = { records, batch };
        const marks = { before: mark, after: endMark(this.#chain, batch).text };
        return (await insertWith(query, dialect, batch, marks)) === marks.after ? batch : undefined;
      });
    } catch (error) {
      if (StoreError.is(error, "taken")) return undefined;
      throw error;
    }
  }

  #confirm(batch: AuditBatch, statements: number): Appended {
    this.#unconfirmed = undefined;
    this.#head = { end: batch, mark: endMark(this.#chain, batch).text };
    this.#written = batch;
    return { batch, statements };
  }

  /** The head by the stored mark alone. Undefined if the mark may not be the end, and must be read anew. */
  #headAt(text: string | undefined): Head | undefined {
    if (text === undefined) return undefined;
    const { end } = markIn(text, this.#chain);
    return end && end.seq >= this.#written.seq ? { end, mark: text } : undefined;
  }

  /**
   * The latest of last batch, end mark and own last write. If batches were removed from the end, the numbers
   * of the removed records stay unused, and `verify` reports the gap. Without a valid mark one number stays
   * unused for the same reason.
   */
  async #readHead(query: Query): Promise<Head> {
    const last = await lastEnd(query);
    const { text, end } = await readEndMark(query, this.#chain);
    const ends = [last, end ?? { seq: last.seq + 1, hash: "" }, this.#written];
    return { end: ends.reduce((a, b) => (b.seq > a.seq ? b : a)), mark: text };
  }

  /** The end that the oldest record follows. Undefined if the retention mark was not made with the key. */
  async #anchor(): Promise<ChainEnd | undefined> {
    const { rows } = await this.#database.query("SELECT value FROM metamcp_meta WHERE name = ?", [ANCHOR]);
    if (!rows[0]) return EMPTY_CHAIN;
    const end = sealedEndIn(String(rows[0]["value"]));
    return end && this.#chain.isSealed(end, "anchor") ? end : undefined;
  }

  /**
   * Deletes old batches and stores the hash of the last one as the retention mark, which the first remaining
   * batch follows. The age of a batch counts only if the batch is unchanged. Otherwise somebody could make a
   * batch look old to have it deleted. The newest batch always stays.
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

  /** Two subqueries, because SQLite would read the whole table for min and max in one. */
  async #bounds(): Promise<{ readonly lowest: number; readonly highest: number }> {
    const { rows } = await this.#database.query(
      `SELECT (SELECT min(first) FROM metamcp_audit) AS lowest,
       (SELECT seq FROM metamcp_audit ORDER BY first DESC LIMIT 1) AS highest`,
    );
    return { lowest: Number(rows[0]?.["lowest"] ?? 0), highest: Number(rows[0]?.["highest"] ?? -1) };
  }

  /** Old records may have been pruned during `verify`. Then it starts again at the new retention mark. */
  async #fault(end: ChainEnd, { seq, reason }: ChainFault, count: number): Promise<AuditVerdict> {
    const anchor = await this.#anchor();
    if (!anchor || anchor.seq <= end.seq) return { ok: false, seq, reason: `record ${seq} ${reason}` };
    const rest = await this.verify();
    return rest.ok ? { ...rest, count: count + rest.count } : rest;
  }

  /** SQL conditions for batches that may contain a matching record. */
  #filter({ members = {}, containing = {}, from, to }: AuditQuery): Filter {
    const position = POSITION[this.#database.dialect];
    const texts = Object.values(members).map(inJson);
    // The databases differ in which other letters they know in lower case.
    const parts = Object.values(containing)
      .map((text) => inJson(text.toLowerCase()))
      .filter((text) => /^[ -~]*$/.test(text));
    const conditions = [
      ...texts.map(() => `AND ${position}(lines, ?) > 0`),
      ...parts.map(() => `AND ${position}(lower(lines), ?) > 0`),
    ];
    const values: SqlValue[] = [...texts, ...parts];
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

async function isStored({ first, hash }: AuditBatch, query: Query): Promise<boolean> {
  const { rows } = await query("SELECT hash FROM metamcp_audit WHERE first = ?", [first]);
  return rows[0]?.["hash"] === hash;
}

function missing({ seq }: ChainEnd): AuditVerdict {
  return { ok: false, seq: seq + 1, reason: `record ${seq + 1} is missing` };
}

/**
 * A genuine batch of an older copy can take the place of the marked one. Only its hash differs from the mark.
 */
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
