/**
 * The signs in all texts of a server, also soft ones and those of resources, which are not pinned. Computed
 * when somebody looks, and again only if the lists changed.
 */
import { createHash } from "node:crypto";
import type { ServerId } from "../../kernel/call.ts";
import { asRaw, fromRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { ITEM_KINDS, type ItemKind } from "../item.ts";
import { type NamedList, signContext } from "../signs/context.ts";
import type { Sign, SignedItem } from "../signs/sign.ts";
import { signsByName } from "../signs/signs-by-name.ts";
import type { Listing, Snapshot } from "../snapshot.ts";
import { INSTRUCTIONS, type PinnedKind } from "./change.ts";
import { fingerprintOf } from "./fingerprint.ts";

export const SIGNED_KINDS = ["tools", "instructions", ...ITEM_KINDS] as const;

/** One thing as a person saw it. */
export interface ItemForm {
  readonly of: PinnedKind | ItemKind;
  /** The name of a tool or prompt, or the URI. */
  readonly name: string;
  /** The hash of its texts. */
  readonly form: string;
}

/** What has signs. */
export interface ItemSigns extends ItemForm {
  /** The hard ones first. */
  readonly signs: readonly Sign[];
}

interface Page {
  readonly version: number;
  readonly signs: Promise<readonly ItemSigns[]>;
}

const OTHER_PARTS = ["name", "title", "description"] as const;

export class SignBook {
  readonly #pages = new WeakMap<Listing, Page>();

  of(server: ServerId, snapshot: Snapshot, lists: Iterable<NamedList>): Promise<readonly ItemSigns[]> {
    const listing = snapshot.listings.get(server);
    if (!listing) return Promise.resolve([]);
    const known = this.#pages.get(listing);
    if (known?.version === snapshot.version) return known.signs;
    const page = { version: snapshot.version, signs: signsIn(server, listing, lists) };
    this.#pages.set(listing, page);
    return page.signs;
  }
}

async function signsIn(
  server: ServerId,
  listing: Listing,
  lists: Iterable<NamedList>,
): Promise<readonly ItemSigns[]> {
  const context = signContext(server, lists);
  const found: ItemSigns[] = [];
  for (const of of SIGNED_KINDS) {
    const items = itemsOf(listing, of);
    const signs = await signsByName(items, context);
    for (const { name, definition } of items) {
      const own = signs.get(name);
      if (own) found.push({ of, name, form: formOf(definition), signs: own });
    }
  }
  return found;
}

function formOf(definition: Raw): string {
  return createHash("sha256").update(definition).digest("base64url");
}

/** Only the parts that models read. */
function itemsOf(listing: Listing, of: ItemSigns["of"]): readonly SignedItem[] {
  if (of === "instructions") {
    const { instructions } = listing.about;
    return instructions ? [{ name: INSTRUCTIONS, definition: toRaw({ instructions }) }] : [];
  }
  const pinned = of === "tools" || of === "prompts";
  return (listing[of] ?? []).map(({ name, definition }) => ({
    name,
    definition: pinned
      ? asRaw(Buffer.from(fingerprintOf({ name, definition }, of).definition))
      : otherParts(definition),
  }));
}

function otherParts(definition: Raw): Raw {
  const written = fromRaw(definition) as Readonly<Record<string, unknown>>;
  return toRaw(Object.fromEntries(OTHER_PARTS.map((part) => [part, written[part]])));
}
