/** Counts calls whose beginning is in the audit log without their outcome. Pure. */

const BEGUN = '{"kind":"begun"';
/** Only our own member: a caller decides what is in the arguments and results, which come last. */
const VALUES = /,"(?:arguments|results)":/;
const CALL = /"call":"([^"]+)"/;

/** Gets the records in order. */
export class UnfinishedCalls {
  readonly #open = new Set<string>();

  /** The lines of a batch. */
  read(lines: string): void {
    if (!lines.includes('"call":"')) return;
    for (const line of lines.split("\n")) {
      const [own = ""] = line.split(VALUES, 1);
      const call = CALL.exec(own)?.[1];
      if (call === undefined) continue;
      if (own.includes(BEGUN)) this.#open.add(call);
      else this.#open.delete(call);
    }
  }

  get count(): number {
    return this.#open.size;
  }
}
