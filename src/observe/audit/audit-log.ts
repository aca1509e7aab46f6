/** The audit log of a running gateway: queues records, writes them in batches to the store and to a file, and deletes old ones. */
import type { Clock, Timer } from "../../kernel/clock.ts";
import type { Log } from "../../kernel/log.ts";
import { StoreError } from "../../store/error.ts";
import { AUDIT_BATCH, type Audit, type AuditRecord } from "../../store/store.ts";
import { BatchQueue } from "../batch-queue.ts";
import { auditFile } from "./audit-file.ts";

export interface AuditOptions {
  /** Path of a file that also gets the records, as JSON lines. */
  readonly file?: string | undefined;
  readonly days: number;
}

export interface AuditState {
  readonly queued: number;
  readonly lost: number;
  /** Why records cannot be written now. */
  readonly fault?: string;
}

/** At most 20 writes per second. */
const EVERY_MS = 50;
const MAX_QUEUED = 50_000;
/** Bytes of text. With the objects around it, memory use is about twice that. */
const MAX_BYTES = 32 * 1_048_576;
/** Limits one write, because nothing else runs while an embedded store writes. */
const MAX_BYTES_IN_BATCH = 1_048_576;
/** If records are required, no call starts above this fill level, so that running calls have room for their records. */
const MAX_FILL_FOR_REQUIRED = 0.5;
/** If records are required, no call starts while a write takes longer than this. */
const LONGEST_WRITE_MS = 2_000;
const CLOSE_MS = 5_000;
const DAY_MS = 86_400_000;
const PRUNE_EVERY_MS = 3_600_000;
const FIRST_PRUNE_MS = 60_000;

interface AuditLogParts {
  readonly clock: Clock;
  readonly log: Log;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

export class AuditLog {
  readonly #store: BatchQueue<AuditRecord>;
  readonly #file: BatchQueue<AuditRecord> | undefined;
  #pruning: Timer;

  constructor(audit: Audit, { file, days }: AuditOptions, { clock, log, now = Date.now }: AuditLogParts) {
    const common = {
      clock,
      sizeOf: ({ head = "", body }: AuditRecord) => head.length + body.length,
      mostInBatch: AUDIT_BATCH,
      mostBytesInBatch: MAX_BYTES_IN_BATCH,
      mostQueued: MAX_QUEUED,
      mostBytes: MAX_BYTES,
      everyMs: EVERY_MS,
    };
    this.#store = new BatchQueue({
      ...common,
      write: async (batch) => {
        await audit.append(batch);
        return 0;
      },
      retry: (error) => StoreError.is(error, "unavailable"),
      onFault: logFaults(log, "the audit log"),
    });
    this.#file =
      file === undefined
        ? undefined
        : new BatchQueue({
            ...common,
            write: auditFile(file),
            retry: () => true,
            onFault: logFaults(log, `the audit file ${file}`),
          });
    let lastCheck = now();
    const prune = async (): Promise<void> => {
      // A clock that is ahead is usually corrected soon, so records must have been old at the previous check too.
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

  add(record: AuditRecord): void {
    this.#store.add(record);
    this.#file?.add(record);
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
    const { fault, fill, writingMs } = this.#store;
    return fault === undefined && fill < MAX_FILL_FOR_REQUIRED && writingMs < LONGEST_WRITE_MS;
  }

  async close(): Promise<void> {
    this.#pruning.cancel();
    await Promise.all([this.#store.close(CLOSE_MS), this.#file?.close(CLOSE_MS)]);
  }
}

function logFaults(log: Log, what: string): (fault: string | undefined) => void {
  return (fault) => {
    if (fault === undefined) log.info(`${what} can be written again`);
    else log.warn(`${what} cannot be written, records wait in memory: ${fault}`);
  };
}
