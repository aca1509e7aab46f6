/**
 * The audit log of a running gateway: queues records, writes them in batches to the store and to a file, and
 * deletes old ones.
 */
import { isDoneWithin } from "../../kernel/at-most.ts";
import type { Clock, Timer } from "../../kernel/clock.ts";
import { COUNT, object, type Static, TEXT } from "../../kernel/json-schema.ts";
import type { Log } from "../../kernel/log.ts";
import { lostRecord } from "../../store/audit-lost.ts";
import { StoreError } from "../../store/error.ts";
import { AUDIT_BATCH, type Audit, type AuditRecord } from "../../store/store.ts";
import { BatchQueue } from "../batch-queue.ts";
import { Pace } from "../pace.ts";
import { auditFile, type FileRecord } from "./audit-file.ts";
import { addUnwritten, keepUnwritten } from "./unwritten-file.ts";

export interface AuditOptions {
  /** Path of a file that also gets the records, as JSON lines. */
  readonly file?: string | undefined;
  readonly days: number;
  /** Path of the file for records that could not be written before a stop. Without it they are lost. */
  readonly unwritten?: string | undefined;
}

/** A record with the id of who caused it. */
export interface OwnedRecord extends AuditRecord {
  readonly owner?: string | undefined;
}

export const AUDIT_STATE = object(
  { queued: COUNT, lost: COUNT },
  { fault: { ...TEXT, description: "why it cannot be written now" } },
);
export type AuditState = Static<typeof AUDIT_STATE>;

const EVERY_MS = 50;
/**
 * Statements per second. An append takes more than one if other gateways write to the same log; then this one
 * writes larger batches less often.
 */
const STATEMENTS = 20;
const MAX_QUEUED = 50_000;
/** Bytes of text. With the objects around it, memory use is about twice that. */
const MAX_BYTES = 32 * 1_048_576;
/** Limits one write, because nothing else runs while an embedded store writes. */
const MAX_BYTES_IN_BATCH = 1_048_576;
/**
 * If records are required, no call starts above this fill level, so that running calls have room for their
 * records.
 */
const MAX_FILL_FOR_REQUIRED = 0.9;
/**
 * If records are required, no call starts while nothing could be written for longer than this. Until then
 * calls wait: a store that is busy, or away for a moment, makes them slower.
 */
const LONGEST_STUCK_MS = 10_000;
/** How long the record may take that a call begins. */
const BEGIN_MS = 10_000;
/**
 * How long the record of its outcome may take. The call was made, so a late answer is better than an error.
 */
export const OUTCOME_MS = 30_000;
const CLOSE_MS = 5_000;
/** For a store that does not answer already when the stop begins: for so long. */
const CLOSE_HANGING_MS = 1_000;
const HANGING_MS = 2_000;
const DAY_MS = 86_400_000;
const PRUNE_EVERY_MS = 3_600_000;
const FIRST_PRUNE_MS = 60_000;

interface AuditLogParts {
  readonly clock: Clock;
  readonly log: Log;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  /** The id of this gateway, where there may be several replicas. Each record names it. */
  readonly replica?: string | undefined;
}

export class AuditLog {
  readonly #audit: Audit;
  readonly #options: AuditOptions;
  readonly #parts: Required<AuditLogParts>;
  readonly #store: BatchQueue<OwnedRecord>;
  readonly #file: BatchQueue<FileRecord> | undefined;
  /** How many lost records the log mentions. */
  #mentioned = 0;
  readonly #pace = new Pace(STATEMENTS);
  #pruning: Timer;

  constructor(audit: Audit, options: AuditOptions, parts: AuditLogParts) {
    const { clock, log, now = Date.now, replica } = parts;
    const { file, days } = options;
    this.#audit = audit;
    this.#options = options;
    this.#parts = { clock, log, now, replica };
    const common = {
      clock,
      sizeOf: ({ head = "", body }: AuditRecord) => head.length + body.length,
      mostInBatch: AUDIT_BATCH,
      mostBytesInBatch: MAX_BYTES_IN_BATCH,
      mostQueued: MAX_QUEUED,
      mostBytes: MAX_BYTES,
      everyMs: EVERY_MS,
    };
    this.#store = new BatchQueue<OwnedRecord>({
      ...common,
      ownerOf: ({ owner }) => owner,
      write: async (batch) => {
        await this.#append(batch);
        return 0;
      },
      waitMs: () => this.#pace.waitMs(clock.now()),
      retry: (error) => StoreError.is(error, "unavailable"),
      onFault: logFaults(log, "the audit log"),
    });
    this.#file =
      file === undefined
        ? undefined
        : new BatchQueue<FileRecord>({
            ...common,
            write: auditFile(file),
            retry: () => true,
            onFault: logFaults(log, `the audit file ${file}`),
          });
    let lastCheck = now();
    const prune = async (): Promise<void> => {
      // A clock that is ahead is usually corrected soon, so records must have been old at the previous check
      // too.
      const time = Math.min(lastCheck, now());
      lastCheck = now();
      try {
        await audit.prune(time - days * DAY_MS);
      } catch (error) {
        log.warn(`old audit records could not be removed: ${(error as Error).message}`);
      }
      this.#pruning = clock.after(PRUNE_EVERY_MS, () => void prune());
    };
    this.#pruning = clock.after(FIRST_PRUNE_MS, () => void prune());
  }

  /** Adds the records that the last run could not write. */
  async start(): Promise<void> {
    const { unwritten } = this.#options;
    if (unwritten === undefined) return;
    const { log } = this.#parts;
    try {
      const added = await addUnwritten(unwritten, {
        audit: this.#audit,
        write: (batch) => this.#append(batch),
        found: (records) => {
          for (const record of records) this.#file?.add(record);
        },
      });
      if (added > 0) log.info(`${added} audit records of the last run were added to the log`);
    } catch (error) {
      log.warn(
        `the audit records in ${unwritten} could not be added to the log: ${(error as Error).message}`,
      );
    }
  }

  add(record: OwnedRecord): void {
    const named = this.#named(record);
    // The file gets also what the store has no room for.
    if (!this.#store.add(named)) this.#file?.add(named);
  }

  /**
   * Resolves when the store has the record. Rejects if that takes too long; the record is then written later,
   * if possible.
   */
  async addRequired(record: OwnedRecord, withinMs = BEGIN_MS): Promise<void> {
    const written = this.#store.addAndWait(this.#named(record));
    written.catch(() => {});
    if (!(await isDoneWithin(this.#parts.clock, withinMs, written)))
      throw new Error("the store does not answer");
  }

  get state(): AuditState {
    const queues = [this.#store, ...(this.#file ? [this.#file] : [])];
    const fileFault = this.#file?.fault;
    const fault = this.#store.fault ?? (fileFault && `the file of --audit-file: ${fileFault}`);
    return {
      queued: Math.max(...queues.map(({ queued }) => queued)),
      lost: queues.reduce((sum, { lost }) => sum + lost, 0),
      ...(fault !== undefined && { fault }),
    };
  }

  /** Whether a call that must be recorded may start, because its record can be written. */
  get ready(): boolean {
    const { fill, stuckMs } = this.#store;
    return fill < MAX_FILL_FOR_REQUIRED && stuckMs < LONGEST_STUCK_MS;
  }

  async close(): Promise<void> {
    this.#pruning.cancel();
    const { fault, stuckMs } = this.#store;
    const hangs = fault !== undefined || stuckMs >= HANGING_MS;
    await this.#keep(await this.#store.close(hangs ? CLOSE_HANGING_MS : CLOSE_MS));
    const fileHangs = this.#file?.fault !== undefined;
    const missing = (await this.#file?.close(fileHangs ? CLOSE_HANGING_MS : CLOSE_MS)) ?? [];
    if (missing.length > 0)
      this.#parts.log.error(`${missing.length} audit records are missing in ${this.#options.file}`);
  }

  /** Writes to the store, then to the file, which so gets the numbers and hashes of the log. */
  async #append(batch: readonly AuditRecord[]): Promise<void> {
    const { first, hashes, statements } = await this.#audit.append(batch);
    this.#pace.spend(statements, this.#parts.clock.now());
    if (this.#file) {
      const all = hashes();
      for (const [at, record] of batch.entries())
        this.#file.add({ ...record, seq: first + at, hash: all[at] ?? "" });
    }
    const { lost, fill } = this.#store;
    if (lost === this.#mentioned || fill >= 1) return;
    this.#store.add(this.#named(lostRecord(this.#parts.now(), lost - this.#mentioned)));
    this.#mentioned = lost;
  }

  #named<R extends AuditRecord>(record: R): R {
    const { replica } = this.#parts;
    if (replica === undefined) return record;
    return { ...record, body: `${record.body.slice(0, -1)},"replica":"${replica}"}` };
  }

  async #keep(left: readonly AuditRecord[]): Promise<void> {
    if (left.length === 0) return;
    const { log } = this.#parts;
    const { unwritten } = this.#options;
    try {
      if (unwritten === undefined) throw new Error("there is no folder for them");
      await keepUnwritten(unwritten, left);
      log.warn(
        `${left.length} audit records could not be written; the next start adds them from ${unwritten}`,
      );
    } catch (error) {
      log.error(
        `${left.length} audit records could not be written and are lost: ${(error as Error).message}`,
      );
    }
  }
}

function logFaults(log: Log, what: string): (fault: string | undefined) => void {
  return (fault) => {
    if (fault === undefined) log.info(`${what} can be written again`);
    else log.warn(`${what} cannot be written, records wait in memory: ${fault}`);
  };
}
