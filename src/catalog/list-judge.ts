/** Asks the gate what of a server's lists clients must not get yet. */
import type { ListSource } from "../kernel/list-key.ts";
import { toRaw } from "../kernel/raw.ts";
import type { About } from "./about.ts";
import type { Gate } from "./gate.ts";
import type { Item } from "./item.ts";
import type { KnownList } from "./known-list.ts";
import type { KnownServer } from "./known-server.ts";
import { INSTRUCTIONS, type PinnedKind } from "./pins/change.ts";
import type { Pinnable } from "./pins/fingerprint.ts";

/** One list of one server, as it was when a refresh began. */
export interface ListRef {
  readonly from: ListSource;
  readonly known: KnownServer;
  readonly list: KnownList;
}

/** What is judged beside the tools, as far as it is given. */
interface Texts {
  readonly about?: About;
  readonly prompts?: readonly Item[] | undefined;
}

const NONE: ReadonlySet<string> = new Set();

export class ListJudge {
  readonly #gate: Gate | undefined;

  constructor(gate: Gate | undefined) {
    this.#gate = gate;
  }

  /** The names of what the gate blocks of a new list. `live`: it came from a connected child. */
  async blocked(
    { from, known }: ListRef,
    items: readonly Pinnable[],
    live: boolean,
    of: PinnedKind = "tools",
  ): Promise<ReadonlySet<string>> {
    const gate = known.own && !this.#gate?.enforced ? undefined : this.#gate;
    // An earlier version takes pins of the other kinds for those of another server, and leaves them alone.
    const identity = of === "tools" ? known.identity : `${known.identity} ${of}`;
    return (await gate?.judge(from, { of, identity, items, live })) ?? NONE;
  }

  /** Holds the prompts and instructions of a new list back that the gate blocks. */
  async holdTexts(ref: ListRef, { about, prompts }: Texts, live: boolean): Promise<void> {
    const { list } = ref;
    const judge = async (of: PinnedKind, items: readonly Pinnable[]): Promise<ReadonlySet<string>> => {
      // Most servers have none, and must not cost a look at what is stored.
      if (items.length === 0 && !list.judged.has(of)) return NONE;
      list.judged.add(of);
      return await this.blocked(ref, items, live, of);
    };
    const [instructions, held] = await Promise.all([
      about && judge("instructions", instructionsIn(about)),
      prompts && judge("prompts", prompts),
    ]);
    if (instructions) list.held = { ...list.held, instructions: instructions.size > 0 };
    if (held) list.held = { ...list.held, prompts: held };
  }
}

/** As a list of one; empty for a server without instructions. */
export function instructionsIn({ instructions }: About): readonly Pinnable[] {
  return instructions ? [{ name: INSTRUCTIONS, definition: toRaw({ instructions }) }] : [];
}
