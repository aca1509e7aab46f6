/** Collects what was wrong with single entries of a child's list, for the log and `metamcp doctor`. */
import { fromRaw, type Raw } from "../kernel/raw.ts";
import { visible } from "../kernel/visible.ts";
import { isObject, isString, member } from "../rpc/slice.ts";
import type { Note } from "./repair-rules.ts";

const SHOWN = 5;
const SHOWN_PROBLEMS = 3;
const LONGEST = 100;

export class EntryFaults {
  readonly #key: string;
  /** One text per entry, and how many there are. */
  readonly #repaired: string[] = [];
  readonly #leftOut: string[] = [];
  #repairedCount = 0;
  #leftOutCount = 0;

  /** `key`: the member that identifies an entry. */
  constructor(key: string) {
    this.#key = key;
  }

  /** Reads one entry with `read` and notes what was wrong with it. */
  read<T>(written: Raw, read: (note: Note) => T | undefined): T | undefined {
    const problems: string[] = [];
    const entry = read((problem) => problems.push(problem));
    if (!entry) {
      this.#leftOutCount += 1;
      // Without a name and a reason there is nothing to show.
      if (problems.length > 0 && this.#leftOut.length < SHOWN)
        this.#leftOut.push(this.#describe(written, problems));
    } else if (problems.length > 0) {
      this.#repairedCount += 1;
      if (this.#repaired.length < SHOWN) this.#repaired.push(this.#describe(written, problems));
    }
    return entry;
  }

  problems(method: string): readonly string[] {
    return [
      ...sentence(
        this.#leftOut,
        this.#leftOutCount,
        `of its ${method} cannot be used`,
        `without a usable ${this.#key}`,
      ),
      ...sentence(this.#repaired, this.#repairedCount, `of its ${method} had faults that were corrected`),
    ];
  }

  #describe(written: Raw, problems: readonly string[]): string {
    const raw = isObject(written) ? member(written, this.#key) : undefined;
    const name = raw && isString(raw) ? (fromRaw(raw) as string) : "";
    const reasons = problems.slice(0, SHOWN_PROBLEMS).map((problem) => visible(problem, LONGEST));
    return `"${visible(name, LONGEST)}" (${reasons.join(", ")})`;
  }
}

function sentence(entries: readonly string[], count: number, what: string, rest = ""): readonly string[] {
  if (count === 0) return [];
  const hidden = count - entries.length;
  const more =
    hidden > 0 ? [[entries.length > 0 ? "and" : "", hidden, rest || "more"].filter(Boolean).join(" ")] : [];
  return [
    `${count} ${count === 1 ? "entry" : "entries"} ${what}: ${[entries.join(", "), ...more].filter(Boolean).join(" ")}`,
  ];
}
