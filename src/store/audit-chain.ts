/**
 * The hash chain of audit records. Each record is a line that begins with the hash of the line before. Each
 * batch has a seal: a keyed hash over its last hash. The key is not in the database, so somebody who can
 * write the database can change a record and all hashes after it, but cannot make the seal. There is one
 * keyed hash per batch, because it costs three times a plain one. Text that several records begin with is
 * stored in the first of them, and the others refer to it. Pure.
 */

import { hash as digest } from "node:crypto";
import { keyedHash } from "../kernel/keyed-hash.ts";
import type { AuditRecord } from "./store.ts";

/** Number and hash of the last record of a chain. */
export interface ChainEnd {
  readonly seq: number;
  readonly hash: string;
}

export const EMPTY_CHAIN: ChainEnd = { seq: 0, hash: "" };

/** The end of a chain with its keyed hash. */
export interface SealedEnd extends ChainEnd {
  readonly seal: string;
}

type SealPurpose = "batch" | "anchor" | "end";

/** Records with successive numbers. `seq` and `hash` are those of the last record. */
export interface AuditBatch extends SealedEnd {
  readonly first: number;
  /** The oldest and newest time of its records. */
  readonly since: number;
  readonly until: number;
  /** One line per record: hash of the line before, number, time, body. */
  readonly lines: string;
}

/** A record with its complete body. */
export interface ChainedRecord extends Omit<AuditRecord, "head"> {
  readonly seq: number;
  /** The text that its hash covers. */
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

  /** Makes a batch of records that follows `end`. */
  batch(end: ChainEnd, records: readonly AuditRecord[]): AuditBatch {
    let { seq, hash } = end;
    let [since, until] = [Infinity, -Infinity];
    const lines: string[] = [];
    const references = new Map<string, string>();
    for (const { at, head = "", body } of records) {
      const reference = references.get(head);
      if (reference === undefined && head !== "") references.set(head, referenceTo(lines.length, head));
      const line = `${hash} ${++seq} ${at} ${reference ?? head}${body}`;
      hash = hashOf(line);
      lines.push(line);
      since = Math.min(since, at);
      until = Math.max(until, at);
    }
    return { ...this.sealed({ seq, hash }), first: end.seq + 1, since, until, lines: lines.join("\n") };
  }

  /** Checks a batch that should follow `end`. Returns the first fault. */
  faultOf(end: ChainEnd, batch: AuditBatch): ChainFault | undefined {
    if (batch.first !== end.seq + 1) return missing(end.seq + 1);
    let { seq, hash } = end;
    let [since, until] = [Infinity, -Infinity];
    for (const line of batch.lines.split("\n")) {
      seq += 1;
      const record = parseLine(line);
      if (record.seq !== seq) return missing(seq);
      since = Math.min(since, record.at);
      until = Math.max(until, record.at);
      // A wrong hash means that the record before was changed. For the first line it is this record, because
      // the batch before has its own seal.
      if (!line.startsWith(`${hash} `)) return changed(Math.max(seq - 1, batch.first));
      hash = hashOf(line);
    }
    if (seq !== batch.seq) return missing(seq + 1);
    if (hash !== batch.hash) return changed(seq);
    if (!this.isSealed(batch))
      return { seq, reason: "or one before it was changed: its keyed hash is wrong" };
    // Queries by time and retention use these columns.
    return since === batch.since && until === batch.until
      ? undefined
      : { seq, reason: "or one before it has a different time in the table" };
  }

  /** Whether the batch itself is unchanged, regardless of the batch before. */
  isIntact(batch: AuditBatch): boolean {
    const hash = batch.lines.slice(0, batch.lines.indexOf(" "));
    return this.faultOf({ seq: batch.first - 1, hash }, batch) === undefined;
  }

  /**
   * `of` is part of the keyed hash. Otherwise the seal of a batch, which can be read in the table, could be
   * used as a forged mark.
   */
  sealed({ seq, hash }: ChainEnd, of: SealPurpose = "batch"): SealedEnd {
    const text = `${of} ${seq} ${hash}`;
    return { seq, hash, seal: keyedHash(this.#key, text) };
  }

  isSealed(end: SealedEnd, of?: SealPurpose): boolean {
    return end.seal === this.sealed(end, of).seal;
  }
}

export function recordsOf({ lines }: Pick<AuditBatch, "lines">): readonly ChainedRecord[] {
  const bodies: string[] = [];
  return lines.split("\n").map((line) => {
    const written = parseLine(line);
    const body = expandBody(written.body, bodies);
    bodies.push(body);
    return { ...written, body };
  });
}

/** The hashes of all records of a batch. Each line begins with the hash of the one before. */
export function hashesOf({ lines, hash }: Pick<AuditBatch, "lines" | "hash">): readonly string[] {
  const before = lines.split("\n").map((line) => line.slice(0, line.indexOf(" ")));
  return [...before.slice(1), hash];
}

/** No JSON text begins with it. */
const REFERENCE = "^";

/**
 * The reference that replaces a head: the index of the record in the batch that contains it, and its length.
 */
function referenceTo(record: number, head: string): string {
  return `${REFERENCE}${record} ${head.length} `;
}

function expandBody(written: string, before: readonly string[]): string {
  if (!written.startsWith(REFERENCE)) return written;
  const length = written.indexOf(" ") + 1;
  const rest = written.indexOf(" ", length) + 1;
  const head = before[Number(written.slice(REFERENCE.length, length - 1))] ?? "";
  return head.slice(0, Number(written.slice(length, rest - 1))) + written.slice(rest);
}

/** Parses a line. The body may contain spaces, and is returned as it is stored. */
function parseLine(line: string): ChainedRecord {
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
