/**
 * What has signs and needs no approval, such as a resource, in the form in which a person has reviewed it.
 * It is beside the pins of the server, in an entry of its own, which earlier versions leave alone.
 */
import type { ServerId } from "../../kernel/call.ts";
import { itemKey } from "./change.ts";
import { decodePins, encodePins, type PinEntry } from "./pin-file.ts";
import type { PinStorage } from "./pin-storage.ts";
import type { ItemForm } from "./sign-book.ts";

/** The place in a storage for one server. */
export interface ReviewedPlace {
  readonly storage: PinStorage;
  readonly server: ServerId;
  readonly identity: string;
}

/** A test whether it was reviewed. Nothing counts as reviewed if what is stored cannot be read. */
export async function reviewedForms(place: ReviewedPlace): Promise<(item: ItemForm) => boolean> {
  const text = await place.storage.read(place.server);
  const known = new Set(pinsIn(text, place).map(({ name, hash }) => keyOf(name, hash)));
  return ({ of, name, form }) => known.has(keyOf(itemKey(of, name), form));
}

/** Of what was reviewed before only that stays which is in `listed`. */
export async function storeReviewed(
  place: ReviewedPlace,
  chosen: readonly ItemForm[],
  listed: readonly ItemForm[],
): Promise<void> {
  const { storage, server, identity } = place;
  const isListed = new Set(listed.map(({ of, name }) => itemKey(of, name)));
  const now = chosen.map(({ of, name, form }) => ({
    name: itemKey(of, name),
    hash: form,
    sight: "reviewed" as const,
  }));
  const replaced = new Set(now.map(({ name }) => name));
  await storage.update(server, (text) => {
    const kept = pinsIn(text, place).filter(({ name }) => isListed.has(name) && !replaced.has(name));
    const others = text === undefined ? [] : decodePins(text);
    return encodePins({ identity: entryIdentity(identity), tools: [...now, ...kept] }, others);
  });
}

function pinsIn(text: string | undefined, { identity }: ReviewedPlace): PinEntry["tools"] {
  const entries = text === undefined ? [] : decodePins(text);
  return entries.find((entry) => entry.identity === entryIdentity(identity))?.tools ?? [];
}

function entryIdentity(identity: string): string {
  return `${identity} signs`;
}

function keyOf(key: string, form: string): string {
  return `${form} ${key}`;
}
