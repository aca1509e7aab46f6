/**
 * What the lists of a child may depend on: the credential it is reached with and what the client can do. Clients that
 * agree in both see the same lists. Roots are left out: they decide who shares a connection, not what is listed.
 */
import { createHash } from "node:crypto";
import type { Origin, ServerId } from "./call.ts";
import { asRaw, fromRaw, type Raw } from "./raw.ts";

export type ListKey = string;

/** Who asks, as far as lists depend on it. */
export type Asker = Pick<Origin, "endpoint" | "principal" | "capabilities">;

/** Over which of its connections a child said what it has. */
export interface ListSource {
  readonly server: ServerId;
  readonly key: ListKey;
}

/** The server's own credential, as configured: the same for everyone who uses it. Like those of accounts, it has no space. */
const SERVER_CREDENTIAL = "server";
/** Longer texts are told apart by their hash. */
const LONGEST = 1_000;
/** Different capabilities as written that are remembered; clients write few. */
const REMEMBERED = 256;

const keys = new WeakMap<Raw, ListKey>();
const written = new Map<string, ListKey>();

/** Every call comes by: what a session declared is looked at once. */
export function listKeyOf(
  { capabilities }: Pick<Asker, "capabilities">,
  credential = SERVER_CREDENTIAL,
): ListKey {
  let key = keys.get(capabilities);
  if (key === undefined) {
    key = keyOfText(capabilities.toString());
    keys.set(capabilities, key);
  }
  return credential === SERVER_CREDENTIAL ? key : withCredential(key, credential);
}

/** The same with another credential. */
export function withCredential(key: ListKey, credential: string): ListKey {
  return `${credential}${key.slice(key.indexOf(" "))}`;
}

/** What stands for the credential that a list came over. */
export function credentialIn(key: ListKey): string {
  return key.slice(0, key.indexOf(" "));
}

function keyOfText(text: string): ListKey {
  const known = written.get(text);
  if (known !== undefined) return known;
  const canonical = JSON.stringify(sorted(fromRaw(asRaw(Buffer.from(text)))));
  const short =
    canonical.length <= LONGEST ? canonical : createHash("sha256").update(canonical).digest("hex");
  const key = `${SERVER_CREDENTIAL} ${short}`;
  if (written.size >= REMEMBERED) written.clear();
  if (text.length <= LONGEST) written.set(text, key);
  return key;
}

/** Clients that write the same in another order can do the same. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([name, inner]) => [name, sorted(inner)] as const);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}
