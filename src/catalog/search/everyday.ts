/** What people say in place of what tools say: "PR" for pull request, "get rid of" for delete. Read when first needed, absent without harm. */
import { readShipped } from "../../home/shipped.ts";
import { isContent, words } from "./words.ts";

const FILE = "words/everyday.txt";
const LINE = /^([^#=:>]+)([=:>])(.+)$/;
/** "PRs" and "files", not "is" or "class". */
const PLURAL = /..[^s]s$|.[^aeious]s$/;
/** What stands before a verb that says what is to be done. */
const BEFORE_VERBS: ReadonlySet<string> = new Set(
  "to please you and then i we can could let me would ll also just or must should will now help".split(" "),
);

/** A part of a question: a word as it was said, or what a saying means. */
export interface Piece {
  /** Empty where several words were said that only together mean something. */
  readonly word: string;
  /** What tools may say for it, the likeliest first. */
  readonly meant: readonly string[];
  /** It stands where a verb says what is to be done. */
  readonly verbal: boolean;
}

interface Saying {
  readonly said: readonly string[];
  readonly meant: readonly string[];
  /** "=": it stands for all of these words. ":": for any of them. ">": the same, but only where a verb can stand. */
  readonly sign: string;
}

export class Everyday {
  /** By the first word, the longest first. */
  readonly #sayings = new Map<string, Saying[]>();

  constructor(text: string) {
    for (const line of text.split("\n")) {
      const [, sayings = "", sign = "", meant = ""] = LINE.exec(line) ?? [];
      for (const saying of sayings.split(","))
        this.#add({ said: words(saying).map(singular), meant: words(meant), sign });
    }
    for (const list of this.#sayings.values()) list.sort((a, b) => b.said.length - a.said.length);
  }

  /** Takes the words of a text, stop words included; gives its pieces without them. */
  read(said: readonly string[]): Piece[] {
    const plain = said.map(singular);
    const out: Piece[] = [];
    for (let at = 0; at < said.length; ) {
      const verbal = out.length === 0 || BEFORE_VERBS.has(said[at - 1] as string);
      const saying = this.#find(plain, at, verbal);
      const here = said.slice(at, at + (saying?.said.length ?? 1));
      at += here.length;
      if (saying && saying.sign !== "=") {
        out.push({ word: here.length === 1 ? (here[0] as string) : "", meant: saying.meant, verbal });
        continue;
      }
      // Some tools use the shorthand themselves: one word stays beside what it stands for.
      const kept = here.length === 1 ? here : [];
      for (const word of [...kept, ...(saying?.meant ?? [])].filter(isContent)) {
        out.push({ word, meant: [], verbal });
      }
    }
    return out;
  }

  #find(plain: readonly string[], at: number, verbal: boolean): Saying | undefined {
    return this.#sayings
      .get(plain[at] as string)
      ?.find(({ said, sign }) => (verbal || sign !== ">") && said.every((one, i) => plain[at + i] === one));
  }

  #add(saying: Saying): void {
    const [first] = saying.said;
    if (first === undefined) return;
    const list = this.#sayings.get(first);
    if (list) list.push(saying);
    else this.#sayings.set(first, [saying]);
  }
}

/** Sayings are compared word for word, in singular or plural: stems would take "product" for "prod". */
function singular(word: string): string {
  return PLURAL.test(word) ? word.slice(0, -1) : word;
}

let loaded: Promise<Everyday> | undefined;

/** Read once. */
export function loadEveryday(): Promise<Everyday> {
  loaded ??= readShipped(FILE).then((bytes) => new Everyday(bytes?.toString("utf8") ?? ""));
  return loaded;
}
