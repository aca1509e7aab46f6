/** Texts that only the holders of one secret can make and read. Says nothing to anyone else, and whoever changes one has none. */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

const IV_BYTES = 12;
const TAG_BYTES = 16;
const CIPHER = "aes-256-gcm";

export class Seal {
  readonly #key: Buffer;

  /** Processes that share a secret read each other's texts. What is sealed for one purpose opens for no other. */
  constructor(secret: Buffer, purpose: string) {
    this.#key = Buffer.from(hkdfSync("sha256", secret, "", purpose, 32));
  }

  /** Opens only for the same `reader`. */
  close(content: string, reader: string): string {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(CIPHER, this.#key, iv).setAAD(Buffer.from(reader));
    const hidden = [cipher.update(content), cipher.final()];
    return Buffer.concat([iv, cipher.getAuthTag(), ...hidden]).toString("base64url");
  }

  /** Undefined for what is not ours, was changed, or is meant for another reader. */
  open(sealed: string, reader: string): string | undefined {
    const bytes = Buffer.from(sealed, "base64url");
    // Decoding overlooks what does not belong in base64url.
    if (bytes.length < IV_BYTES + TAG_BYTES || bytes.toString("base64url") !== sealed) return undefined;
    const tag = bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES);
    const decipher = createDecipheriv(CIPHER, this.#key, bytes.subarray(0, IV_BYTES))
      .setAAD(Buffer.from(reader))
      .setAuthTag(tag);
    try {
      return Buffer.concat([
        decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)),
        decipher.final(),
      ]).toString();
    } catch {
      return undefined;
    }
  }
}
