/**
 * How audit records hang together: each hash is over the record and the hash before it, with a key that is not in the
 * database: whoever writes there can change a record, but not make the chain fit again. Pure.
 */
import { createHmac } from "node:crypto";

/** The end of a chain. */
export interface ChainEnd {
  readonly seq: number;
  readonly hash: string;
}

export interface ChainedRow extends ChainEnd {
  readonly at: number;
  /** Both JSON, exactly as they are stored. */
  readonly fields: string;
  readonly body: string;
}

export const FIRST_LINK: ChainEnd = { seq: 0, hash: "" };

/** A link that stands outside of the records, with the proof that we put it there. */
export interface SealedLink extends ChainEnd {
  readonly seal: string;
}

export class AuditChain {
  readonly #key: Buffer;

  constructor(key: Buffer) {
    this.#key = key;
  }

  /** The records as rows that follow `link`. */
  rows(
    link: ChainEnd,
    records: readonly Pick<ChainedRow, "at" | "fields" | "body">[],
  ): readonly ChainedRow[] {
    let last = link;
    return records.map(({ at, fields, body }) => {
      const seq = last.seq + 1;
      const hash = this.#hashOf(last.hash, { seq, at, fields, body });
      const row = { seq, at, fields, body, hash };
      last = row;
      return row;
    });
  }

  /** What is wrong with a row that should follow `link`. */
  faultOf(link: ChainEnd, row: ChainedRow): string | undefined {
    if (row.seq !== link.seq + 1) return "is missing";
    return row.hash === this.#hashOf(link.hash, row) ? undefined : "was changed";
  }

  sealed({ seq, hash }: ChainEnd): SealedLink {
    return { seq, hash, seal: this.#mac(`anchor\n${seq}\n${hash}`) };
  }

  isSealed(link: SealedLink): boolean {
    return link.seal === this.sealed(link).seal;
  }

  /** JSON has no line breaks of its own, so the parts cannot be shifted into each other. */
  #hashOf(before: string, { seq, at, fields, body }: Omit<ChainedRow, "hash">): string {
    return this.#mac(`${before}\n${seq}\n${at}\n${fields}\n${body}`);
  }

  #mac(text: string): string {
    return createHmac("sha256", this.#key).update(text).digest("hex");
  }
}
