/**
 * Creates, lists and revokes API keys in the store. Other gateways are notified by the change of the records.
 */
import type { Store, StoredRecord } from "../store/store.ts";
import {
  API_KEY,
  API_KEY_USE,
  type ApiKey,
  hashOf,
  newKeyText,
  prefixOf,
  type StoredKey,
} from "./api-key.ts";
import { allRecords } from "./mirror.ts";

/** Keys end by the clock of the store, whichever gateway made them. */
type KeyStore = Pick<Store, "records" | "sealer" | "now">;

export type NewApiKey = Omit<
  ApiKey,
  "id" | "prefix" | "createdAt" | "lastUsedAt" | "rotatedAt" | "overlapUntil"
>;

export type ForeignKey = NewApiKey & { readonly id: string; readonly text: string };

/** `key` in the result is the text of the key. It cannot be read again. */
export async function createApiKey(
  store: KeyStore,
  key: NewApiKey,
  now: number = store.now(),
): Promise<ApiKey & { readonly key: string }> {
  const { id, text } = newKeyText();
  const record = await store.records.put({ ...recordOf(store, { ...key, id, text }, now), ifVersion: 0 });
  return { ...shown(record), key: text };
}

/**
 * Imports keys of the older MetaMCP with their texts: all or none. A key with a known id replaces the
 * existing one.
 */
export async function takeOverApiKeys(
  store: KeyStore,
  keys: readonly ForeignKey[],
  now: number = store.now(),
): Promise<void> {
  await store.records.write(keys.map((key) => ({ put: recordOf(store, key, now) })));
}

function recordOf(store: KeyStore, { id, text, ...key }: ForeignKey, now: number) {
  const value: StoredKey = {
    ...key,
    prefix: prefixOf(text),
    createdAt: new Date(now).toISOString(),
    hash: hashOf(text, pepperOf(store)),
  };
  return { kind: API_KEY, id, value };
}

/** Includes expired keys, so that their owners see why they do not work. */
export async function listApiKeys(store: Pick<Store, "records">): Promise<readonly ApiKey[]> {
  const used = new Map((await allRecords(store, API_KEY_USE)).map(({ id, value }) => [id, value as string]));
  return (await keyRecords(store)).map((record) => {
    const lastUsedAt = used.get(record.id);
    return { ...shown(record), ...(lastUsedAt === undefined ? {} : { lastUsedAt }) };
  });
}

/** What can change of a key. */
export type KeyChange = Partial<Pick<ApiKey, "name" | "description" | "machine">>;

/** Returns undefined for an unknown id. Other keys of a machine client are a rotation of it. */
export async function changeApiKey(
  store: Pick<Store, "records" | "now">,
  id: string,
  change: KeyChange,
  now: number = store.now(),
): Promise<ApiKey | undefined> {
  const record = await store.records.get(API_KEY, id);
  if (!record) return undefined;
  const rotated = change.machine && { rotatedAt: new Date(now).toISOString() };
  const value = { ...(record.value as StoredKey), ...change, ...rotated };
  return shown(await store.records.put({ kind: API_KEY, id, value, ifVersion: record.version }));
}

/**
 * Gives the key a new text; everything else stays. The former one is valid until `until` (milliseconds since
 * 1970). An expiry moves, so that the key has its whole lifetime again. Undefined for an unknown id.
 */
export async function rotateApiKey(
  store: KeyStore,
  id: string,
  until: number,
  now: number = store.now(),
): Promise<(ApiKey & { readonly key: string }) | undefined> {
  const record = await store.records.get(API_KEY, id);
  if (!record) return undefined;
  const { formerHash: _, overlapUntil: _o, ...key } = record.value as StoredKey;
  const { text } = newKeyText(id);
  const began = Date.parse(key.rotatedAt ?? key.createdAt);
  const end = key.expiresAt === undefined ? undefined : Date.parse(key.expiresAt);
  const overlap = Math.min(until, end ?? until);
  const value: StoredKey = {
    ...key,
    prefix: prefixOf(text),
    hash: hashOf(text, pepperOf(store)),
    rotatedAt: new Date(now).toISOString(),
    ...(end === undefined ? {} : { expiresAt: new Date(now + end - began).toISOString() }),
    ...(overlap > now ? { formerHash: key.hash, overlapUntil: new Date(overlap).toISOString() } : {}),
  };
  const rotated = await store.records.put({ kind: API_KEY, id, value, ifVersion: record.version });
  return { ...shown(rotated), key: text };
}

/** Returns false for an unknown id. */
export async function revokeApiKey(store: Pick<Store, "records">, id: string): Promise<boolean> {
  const was = await store.records.delete(API_KEY, id);
  if (was) await store.records.delete(API_KEY_USE, id);
  return was;
}

export function keyRecords(store: Pick<Store, "records">): Promise<readonly StoredRecord[]> {
  return allRecords(store, API_KEY);
}

export function pepperOf({ sealer }: Pick<Store, "sealer">): Buffer {
  return sealer.derive("api-keys");
}

function shown({ id, value }: StoredRecord): ApiKey {
  const { hash: _, formerHash: _f, ...fields } = value as StoredKey;
  return { id, ...fields };
}
