/**
 * The end of the audit log, and its end mark: a row beside the log with the number and hash of the last
 * record and a keyed hash over both. Each batch is written together with a new mark, so `verify` notices that
 * records were removed from the end. The mark cannot show that log and mark were both replaced by an older
 * copy.
 */
import { type AuditBatch, AuditChain, type ChainEnd, EMPTY_CHAIN, type SealedEnd } from "./audit-chain.ts";
import type { Database, Query, SqlDialect, SqlRow } from "./database.ts";
import { StoreError } from "./error.ts";
import { toJson } from "./text.ts";

/** The purpose that the key of the audit log is derived for. */
export const AUDIT_KEY = "audit";
/** The columns of a batch. */
export const BATCH = "first, seq, since, until, hash, seal, lines";

const MARK = "audit-end";
/** Changes nothing if the stored mark is not the expected one, which is the last value. */
const REPLACE_MARK = `INSERT INTO metamcp_meta (name, value) VALUES ('${MARK}', ?)
  ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE metamcp_meta.value = ?`;
const INSERT = `INSERT INTO metamcp_audit (${BATCH})`;
/**
 * One statement on Postgres: if a gateway vanished during a transaction, its lock on the mark would block the
 * others. It answers the mark as it is then. If another gateway was first, that is the end after which the
 * batch must be made anew, without a further read.
 */
const APPEND = `WITH mark AS (
    INSERT INTO metamcp_meta AS now (name, value) VALUES ('${MARK}', ?)
    ON CONFLICT (name) DO UPDATE SET value = CASE WHEN now.value = ? THEN excluded.value ELSE now.value END
    RETURNING value),
  batch AS (${INSERT}
    SELECT ?::bigint, ?::bigint, ?::bigint, ?::bigint, ?::text, ?::text, ?::text FROM mark WHERE value = ?)
  SELECT value FROM mark`;

/** If a gateway is stopped while it holds the mark, the others get it back after this time. */
const LOCK_MARK = `SELECT set_config('idle_in_transaction_session_timeout', '2000', true)
  FROM metamcp_meta WHERE name = ? FOR UPDATE`;

export interface EndMark {
  /** The stored text, "" without one. */
  readonly text: string;
  /** Undefined if the mark is missing or was not made with the key. */
  readonly end: ChainEnd | undefined;
}

/** The stored end marks before and after a batch. */
interface Marks {
  readonly before: string;
  readonly after: string;
}

export function endMark(chain: AuditChain, end: ChainEnd): EndMark {
  return { text: toJson(chain.sealed(end, "end")), end };
}

export async function readEndMark(query: Query, chain: AuditChain): Promise<EndMark> {
  const { rows } = await query("SELECT value FROM metamcp_meta WHERE name = ?", [MARK]);
  return markIn(String(rows[0]?.["value"] ?? ""), chain);
}

/** Keeps other gateways from appending until the transaction ends. An embedded store has only one gateway. */
export async function lockEnd(query: Query, dialect: SqlDialect): Promise<void> {
  if (dialect === "postgres") await query(LOCK_MARK, [MARK]);
}

export function markIn(text: string, chain: AuditChain): EndMark {
  const end = sealedEndIn(text);
  return { text, end: end && chain.isSealed(end, "end") ? end : undefined };
}

/** Marks the end of a log that has no mark yet. Runs once per store, because it accepts the log as it is. */
export async function markEnd(query: Query, key: Buffer): Promise<void> {
  const chain = new AuditChain(key);
  const { text } = await readEndMark(query, chain);
  await query(REPLACE_MARK, [endMark(chain, await lastEnd(query)).text, text]);
}

/**
 * Writes a batch and the mark `after` it. Returns the mark that is stored then: another one if another
 * gateway appended first, and nothing was written; undefined if it is not known.
 */
export async function insertBatch(
  database: Database,
  batch: AuditBatch,
  marks: Marks,
): Promise<string | undefined> {
  const { dialect } = database;
  try {
    return dialect === "postgres"
      ? await insertWith(database.query, dialect, batch, marks)
      : await database.transaction((query) => insertWith(query, dialect, batch, marks));
  } catch (error) {
    // A running gateway from before end marks wrote a batch and did not change the mark.
    if (StoreError.is(error, "taken")) return undefined;
    throw error;
  }
}

/** The same within a transaction. */
export async function insertWith(
  query: Query,
  dialect: SqlDialect,
  { first, seq, since, until, hash, seal, lines }: AuditBatch,
  { before, after }: Marks,
): Promise<string | undefined> {
  const row = [first, seq, since, until, hash, seal, lines];
  if (dialect === "postgres") {
    const { rows } = await query(APPEND, [after, before, ...row, after]);
    return String(rows[0]?.["value"]);
  }
  const { count } = await query(REPLACE_MARK, [after, before]);
  if (count === 0) return undefined;
  await query(`${INSERT} VALUES (?, ?, ?, ?, ?, ?, ?)`, row);
  return after;
}

/**
 * The end of the last batch in the table. A planted batch may end before it begins; its number is taken all
 * the same.
 */
export async function lastEnd(query: Query): Promise<ChainEnd> {
  const { rows } = await query("SELECT first, seq, hash FROM metamcp_audit ORDER BY first DESC LIMIT 1");
  if (!rows[0]) return EMPTY_CHAIN;
  const { seq, hash } = endOf(rows[0]);
  return { seq: Math.max(seq, Number(rows[0]["first"])), hash };
}

export function endOf({ seq, hash }: SqlRow): ChainEnd {
  return { seq: Number(seq), hash: String(hash) };
}

/** Undefined if the text is not JSON. Does not check the keyed hash. */
export function sealedEndIn(text: string): SealedEnd | undefined {
  try {
    return (JSON.parse(text) as SealedEnd | null) ?? undefined;
  } catch {
    return undefined;
  }
}
