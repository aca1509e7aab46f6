/**
 * Session ids that every replica can open: sealed, of fixed size, bound to one endpoint and one principal. An
 * id says which replica opened the session, and which text the client sent at initialize.
 */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import { Lru } from "../kernel/lru.ts";
import { holderKey, type Principal } from "../kernel/principal.ts";

/** The first byte of every id, as in `kernel/seal.ts`. Ids of another format do not open. */
const FORMAT = 1;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const SESSION_BYTES = 16;
const OWNER_BYTES = 4;
const HASH_BYTES = 16;
const CONTENT_BYTES = SESSION_BYTES + OWNER_BYTES + 3 * HASH_BYTES;
const BYTES = 1 + IV_BYTES + TAG_BYTES + CONTENT_BYTES;
const LENGTH = Math.ceil((BYTES * 4) / 3);
const CIPHER = "aes-256-gcm";
/** So many ids are not decrypted again. */
const MAX_OPENED = 10_000;

/** What a session id says. */
export interface SessionFacts {
  /** 32 hexadecimal digits. */
  readonly session: string;
  /** The replica that opened the session: 8 hexadecimal digits. Another one may own it meanwhile. */
  readonly owner: string;
  /** The digest of what the client sent at initialize. */
  readonly said: string;
}

/** Where a session id is valid. */
export interface SessionPlace {
  readonly endpoint: string;
  readonly principal: Principal;
}

type Opened = SessionFacts & SessionPlace;

export class SessionIds {
  readonly #key: Buffer;
  readonly #opened = new Lru<string, Opened>(MAX_OPENED);

  /** `key`: 32 bytes, the same at all replicas. */
  constructor(key: Buffer) {
    this.#key = key;
  }

  seal({ session, owner, said }: SessionFacts, place: SessionPlace): string {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(CIPHER, this.#key, iv).setAAD(Buffer.of(FORMAT));
    const content = Buffer.concat([
      Buffer.from(session, "hex"),
      Buffer.from(owner, "hex"),
      Buffer.from(said, "hex"),
      hashOf(place.endpoint),
      hashOf(keyOf(place.principal)),
    ]);
    if (content.length !== CONTENT_BYTES) throw new Error("a part of the session id has a wrong length");
    const sealed = Buffer.concat([cipher.update(content), cipher.final()]);
    return Buffer.concat([Buffer.of(FORMAT), iv, cipher.getAuthTag(), sealed]).toString("base64url");
  }

  /** Returns undefined if the id is foreign, was changed, or is not valid at this place. */
  open(id: string, place: SessionPlace): SessionFacts | undefined {
    const known = this.#opened.get(id);
    if (known?.endpoint === place.endpoint && isSame(known.principal, place.principal)) return known;
    const facts = this.#openAnew(id, place);
    if (facts) this.#opened.set(id, { ...facts, ...place });
    return facts;
  }

  #openAnew(id: string, { endpoint, principal }: SessionPlace): SessionFacts | undefined {
    if (id.length !== LENGTH) return undefined;
    const bytes = Buffer.from(id, "base64url");
    // Decoding ignores invalid characters, so the text is compared with its canonical form.
    if (bytes[0] !== FORMAT || bytes.toString("base64url") !== id) return undefined;
    const content = this.#decrypt(bytes);
    if (!content) return undefined;
    const parts = partsOf(content, [SESSION_BYTES, OWNER_BYTES, HASH_BYTES, HASH_BYTES, HASH_BYTES]);
    const [session, owner, said, place, holder] = parts as [Buffer, Buffer, Buffer, Buffer, Buffer];
    if (!place.equals(hashOf(endpoint)) || !holder.equals(hashOf(keyOf(principal)))) return undefined;
    return { session: session.toString("hex"), owner: owner.toString("hex"), said: said.toString("hex") };
  }

  #decrypt(bytes: Buffer): Buffer | undefined {
    const [, iv, tag, sealed] = partsOf(bytes, [1, IV_BYTES, TAG_BYTES, CONTENT_BYTES]);
    const decipher = createDecipheriv(CIPHER, this.#key, iv as Buffer)
      .setAAD(Buffer.of(FORMAT))
      .setAuthTag(tag as Buffer);
    try {
      return Buffer.concat([decipher.update(sealed as Buffer), decipher.final()]);
    } catch {
      return undefined;
    }
  }
}

/** The digest under which a text is stored. */
export function digestOf(said: Buffer): string {
  return hashOf(said).toString("hex");
}

/** As `samePrincipal`: unauthenticated callers cannot be told apart. */
function keyOf(principal: Principal): string {
  return principal.kind === "anonymous" ? "anonymous" : `${principal.kind} ${holderKey(principal)}`;
}

function isSame(a: Principal, b: Principal): boolean {
  return a === b || keyOf(a) === keyOf(b);
}

function hashOf(text: string | Buffer): Buffer {
  return createHash("sha256").update(text).digest().subarray(0, HASH_BYTES);
}

function partsOf(bytes: Buffer, lengths: readonly number[]): readonly Buffer[] {
  let end = 0;
  return lengths.map((length) => {
    end += length;
    return bytes.subarray(end - length, end);
  });
}
