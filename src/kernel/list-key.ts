/**
 * The key of a child's lists. Lists may depend on the credential and on the capabilities of the client, so
 * clients with the same key see the same lists. Roots are not part of it: they decide which clients share a
 * connection, not what is listed.
 */
import { createHash } from "node:crypto";
import type { Origin, ServerId } from "./call.ts";
import { perObject } from "./per-object.ts";
import { asRaw, fromRaw, type Raw } from "./raw.ts";
import { sortedKeys } from "./sorted-keys.ts";

export type ListKey = string;

/** The part of a caller's origin that lists depend on. */
export type Asker = Pick<Origin, "endpoint" | "principal" | "capabilities">;

/** The connection over which a child listed what it offers. */
export interface ListSource {
  readonly server: ServerId;
  readonly key: ListKey;
}

/**
 * Stands for the configured credential of a server, which all clients share. Like ids of account credentials
 * it contains no space.
 */
const SERVER_CREDENTIAL = "server";
/** Longer texts are replaced by their hash. */
const MAX_TEXT_LENGTH = 1_000;
/** Clients write few different texts, so a small cache is enough. */
const MAX_CACHED_TEXTS = 256;

const keyOf = perObject((capabilities: Raw): ListKey => keyOfText(capabilities.toString()));
const keysByText = new Map<string, ListKey>();

/** Runs for every call, so the result is cached by the `capabilities` object of the session. */
export function listKeyOf(
  { capabilities }: Pick<Asker, "capabilities">,
  credential = SERVER_CREDENTIAL,
): ListKey {
  const key = keyOf(capabilities);
  return credential === SERVER_CREDENTIAL ? key : withCredential(key, credential);
}

/** The key with another credential. */
export function withCredential(key: ListKey, credential: string): ListKey {
  return `${credential}${key.slice(key.indexOf(" "))}`;
}

/** The id of the credential in a key. */
export function credentialIn(key: ListKey): string {
  return key.slice(0, key.indexOf(" "));
}

function keyOfText(text: string): ListKey {
  const known = keysByText.get(text);
  if (known !== undefined) return known;
  const canonical = JSON.stringify(fromRaw(asRaw(Buffer.from(text))), sortedKeys);
  const short =
    canonical.length <= MAX_TEXT_LENGTH ? canonical : createHash("sha256").update(canonical).digest("hex");
  const key = `${SERVER_CREDENTIAL} ${short}`;
  if (keysByText.size >= MAX_CACHED_TEXTS) keysByText.clear();
  if (text.length <= MAX_TEXT_LENGTH) keysByText.set(text, key);
  return key;
}
