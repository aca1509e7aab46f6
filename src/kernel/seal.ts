/**
 * Encrypted and authenticated texts. Only processes with the secret can make and read them; a changed text
 * does not open.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

/** The first byte of every sealed text. */
const FORMAT = 1;
/** Later formats begin with a byte up to this one. */
const LAST_FORMAT = 15;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const HEAD_BYTES = 1 + IV_BYTES + TAG_BYTES;
const CIPHER = "aes-256-gcm";

/** What keys are made from. */
export interface KeySource {
  /** The same in all processes on one store. */
  readonly secret: Buffer;
}

/**
 * A key for one purpose. It reveals neither the secret nor keys for other purposes. The secret is read and
 * the key made at the first use: most processes never need them.
 */
export function derivedKey(source: KeySource, purpose: string): () => Buffer {
  let key: Buffer | undefined;
  return () => (key ??= Buffer.from(hkdfSync("sha256", source.secret, "", purpose, 32)));
}

export class Seal {
  readonly #key: () => Buffer;

  /**
   * Processes with the same secret can open each other's texts. A text sealed for one purpose does not open
   * for another.
   */
  constructor(source: KeySource, purpose: string) {
    this.#key = derivedKey(source, purpose);
  }

  /** Encrypts a text that opens only for the same `reader`. */
  close(content: string, reader: string): string {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(CIPHER, this.#key(), iv).setAAD(boundTo(reader));
    const encrypted = [cipher.update(content), cipher.final()];
    return Buffer.concat([Buffer.of(FORMAT), iv, cipher.getAuthTag(), ...encrypted]).toString("base64url");
  }

  /** Returns undefined if the text is foreign, was changed, or is for another reader. */
  open(sealed: string, reader: string): string | undefined {
    const bytes = Buffer.from(sealed, "base64url");
    // Decoding ignores invalid characters, so the text is compared with its canonical form.
    if (bytes.length < HEAD_BYTES || bytes[0] !== FORMAT || bytes.toString("base64url") !== sealed)
      return undefined;
    const decipher = createDecipheriv(CIPHER, this.#key(), bytes.subarray(1, 1 + IV_BYTES))
      .setAAD(boundTo(reader))
      .setAuthTag(bytes.subarray(1 + IV_BYTES, HEAD_BYTES));
    try {
      return Buffer.concat([decipher.update(bytes.subarray(HEAD_BYTES)), decipher.final()]).toString();
    } catch {
      return undefined;
    }
  }
}

/** The text looks like one that a later version of MetaMCP sealed. Whether it did is not known. */
export function isOfLaterVersion(sealed: string): boolean {
  const bytes = Buffer.from(sealed, "base64url");
  const [format = 0] = bytes;
  return bytes.length >= HEAD_BYTES && format > FORMAT && format <= LAST_FORMAT;
}

function boundTo(reader: string): Buffer {
  return Buffer.from(`${FORMAT} ${reader}`);
}
