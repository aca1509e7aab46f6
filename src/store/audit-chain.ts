/**
 * How audit records hang together. Each record is a line that begins with the hash of the line before; each batch has a
 * seal over its last hash, made with a key that is not in the database: whoever writes there can change a record and
 * every hash after it, but not make a seal that fits. One keyed hash a batch, as it costs three times a plain one. What many
 * records begin with is written in the first of them; the others refer to it. Pure.
 */
import { createHmac, hash as digest } from "node:crypto";
import type { AuditRecord } from "./store.ts";

/** The end of a chain. */
export interface ChainEnd {
  readonly seq: number;
  readonly hash: string;
}

export const FIRST_LINK: ChainEnd = { seq: 0, hash: "" };

/** The end of a chain, with the proof that we wrote it. */
export interface SealedEnd extends ChainEnd {
  readonly seal: string;
}

type SealPurpose = "batch" | "anchor" | "end";

/** Records with successive numbers. `seq` and `hash` are those of the last. */
export interface AuditBatch extends SealedEnd {
  readonly first: number;
  /** The oldest and the newest time of its records. */
  readonly since: number;
  readonly until: number;
  /** A line each: hash of the line before, number, time, body. */
  readonly lines: string;
}

/** Its body is whole. */
export interface ChainedRecord extends Omit<AuditRecord, "head"> {
  readonly seq: number;
  /** All that its hash is over. */
  readonly line: string;
}

export interface ChainFault {
  readonly seq: number;
  readonly reason: string;
}

export class AuditChain {
  readonly #key: Buffer;

  constructor(key: Buffer) {
    this.#key = key;
  }

  /** The records as a batch that follows `end`. */
  batch(end: ChainEnd, records: readonly AuditRecord[]): AuditBatch {
    let { seq, hash } = end;
    let [since, until] = [Infinity, -Infinity];
    const lines: string[] = [];
    const marks = new Map<string, string>();
    for (const { at, head = "", body } of records) {
      const mark = marks.get(head);
      if (mark === undefined && head !== "") marks.set(head, markOf(lines.length, head));
      const line = `${hash} ${++seq} ${at} ${mark ?? head}${body}`;
      hash = hashOf(line);
      lines.push(line);
      since = Math.min(since, at);
      until = Math.max(until, at);
    }
    return { ...this.sealed({ seq, hash }), first: end.seq + 1, since, until, lines: lines.join("\n") };
  }

  /** What is wrong with a batch that should follow `end`. */
  faultOf(end: ChainEnd, batch: AuditBatch): ChainFault | undefined {
    if (batch.first !== end.seq + 1) return missing(end.seq + 1);
    let { seq, hash } = end;
    let [since, until] = [Infinity, -Infinity];
    for (const line of batch.lines.split("\n")) {
      seq += 1;
      const record = recordIn(line);
      if (record.seq !== seq) return missing(seq);
      since = Math.min(since, record.at);
      until = Math.max(until, record.at);
      // The batch before is sealed, so it is this line where it is the first.
      if (!line.startsWith(`${hash} `)) return changed(Math.max(seq - 1, batch.first));
      hash = hashOf(line);
    }
    if (seq !== batch.seq) return missing(seq + 1);
    if (hash !== batch.hash) return changed(seq);
    if (!this.isSealed(batch))
      return { seq, reason: "or one before it was changed: its keyed hash is wrong" };
    // Questions by time and retention go by them.
    return since === batch.since && until === batch.until
      ? undefined
      : { seq, reason: "or one before it has a different time in the table" };
  }

  /** Whether it is as it was written, whatever became of the one before. */
  isIntact(batch: AuditBatch): boolean {
    const hash = batch.lines.slice(0, batch.lines.indexOf(" "));
    return this.faultOf({ seq: batch.first - 1, hash }, batch) === undefined;
  }

  /** `of`: a seal of one thing proves nothing of another, and those of batches can be read by whoever may remove some. */
  sealed({ seq, hash }: ChainEnd, of: SealPurpose = "batch"): SealedEnd {
    const text = `${of} ${seq} ${hash}`;
    return { seq, hash, seal: createHmac("sha256", this.#key).update(text).digest("base64url") };
  }

  isSealed(end: SealedEnd, of?: SealPurpose): boolean {
    return end.seal === this.sealed(end, of).seal;
  }
}

export function recordsOf({ lines }: Pick<AuditBatch, "lines">): readonly ChainedRecord[] {
  const bodies: string[] = [];
  return lines.split("\n").map((line) => {
    const written = recordIn(line);
    const body = wholeBody(written.body, bodies);
    bodies.push(body);
    return { ...written, body };
  });
}

/** No JSON begins so. */
const MARK = "^";

/** In place of a head: of which record in the batch the body begins with it, and how long it is. */
function markOf(record: number, head: string): string {
  return `${MARK}${record} ${head.length} `;
}

function wholeBody(written: string, before: readonly string[]): string {
  if (!written.startsWith(MARK)) return written;
  const length = written.indexOf(" ") + 1;
  const rest = written.indexOf(" ", length) + 1;
  const head = before[Number(written.slice(MARK.length, length - 1))] ?? "";
  return head.slice(0, Number(written.slice(length, rest - 1))) + written.slice(rest);
}

/** As it stands there. A body may have spaces of its own. */
function recordIn(line: string): ChainedRecord {
  const seq = line.indexOf(" ") + 1;
  const at = line.indexOf(" ", seq) + 1;
  const body = line.indexOf(" ", at) + 1;
  return {
    seq: Number(line.slice(seq, at - 1)),
    at: Number(line.slice(at, body - 1)),
    body: line.slice(body),
    line,
  };
}

export function hashOf(line: string): string {
  return digest("sha256", line, "base64url");
}

function missing(seq: number): ChainFault {
  return { seq, reason: "is missing" };
}

function changed(seq: number): ChainFault {
  return { seq, reason: "was changed" };
}
