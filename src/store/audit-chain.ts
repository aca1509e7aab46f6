/**
 * How audit records hang together. Each record is a line that begins with the hash of the line before; each batch has a
 * seal over its last hash, made with a key that is not in the database: whoever writes there can change a record and
 * every hash after it, but not make a seal that fits. One keyed hash a batch, as it costs three times a plain one. Pure.
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

/** Records with successive numbers. `seq` and `hash` are those of the last. */
export interface AuditBatch extends SealedEnd {
  readonly first: number;
  /** A line each: hash of the line before, number, time, body. */
  readonly lines: string;
}

export interface ChainedRecord extends AuditRecord {
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
    const lines: string[] = [];
    for (const { at, body } of records) {
      const line = `${hash} ${++seq} ${at} ${body}`;
      hash = hashOf(line);
      lines.push(line);
    }
    return { ...this.sealed({ seq, hash }), first: end.seq + 1, lines: lines.join("\n") };
  }

  /** What is wrong with a batch that should follow `end`. */
  faultOf(end: ChainEnd, batch: AuditBatch): ChainFault | undefined {
    if (batch.first !== end.seq + 1) return missing(end.seq + 1);
    let { seq, hash } = end;
    for (const line of batch.lines.split("\n")) {
      seq += 1;
      if (seqIn(line) !== seq) return missing(seq);
      // The batch before is sealed, so it is this line where it is the first.
      if (!line.startsWith(`${hash} `)) return changed(Math.max(seq - 1, batch.first));
      hash = hashOf(line);
    }
    if (seq !== batch.seq) return missing(seq + 1);
    if (hash !== batch.hash) return changed(seq);
    return this.isSealed(batch)
      ? undefined
      : { seq, reason: "or one before it was changed: its seal is wrong" };
  }

  sealed({ seq, hash }: ChainEnd): SealedEnd {
    return { seq, hash, seal: createHmac("sha256", this.#key).update(`${seq} ${hash}`).digest("base64url") };
  }

  isSealed(end: SealedEnd): boolean {
    return end.seal === this.sealed(end).seal;
  }
}

export function recordsOf({ lines }: Pick<AuditBatch, "lines">): readonly ChainedRecord[] {
  return lines.split("\n").map((line) => {
    const [seq, at, body] = placesIn(line);
    return {
      seq: Number(line.slice(seq, at - 1)),
      at: Number(line.slice(at, body - 1)),
      body: line.slice(body),
      line,
    };
  });
}

/** Where number, time and body begin. A body may have spaces of its own. */
function placesIn(line: string): [seq: number, at: number, body: number] {
  const seq = line.indexOf(" ") + 1;
  const at = line.indexOf(" ", seq) + 1;
  return [seq, at, line.indexOf(" ", at) + 1];
}

function seqIn(line: string): number {
  const [seq, at] = placesIn(line);
  return Number(line.slice(seq, at - 1));
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
