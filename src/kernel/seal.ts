/** Encrypted and authenticated texts. Only processes with the secret can make and read them; a changed text does not open. */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

const IV_BYTES = 12;
const TAG_BYTES = 16;
const CIPHER = "aes-256-gcm";

export class Seal {
  readonly #key: Buffer;

  /** Processes with the same secret can open each other's texts. A text sealed for one purpose does not open for another. */
  constructor(secret: Buffer, purpose: string) {
    this.#key = Buffer.from(hkdfSync("sha256", secret, "", purpose, 32));
  }

  /** Encrypts a text that opens only for the same `reader`. */
  close(content: string, reader: string): string {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(CIPHER, this.#key, iv).setAAD(Buffer.from(reader));
    const encrypted = [cipher.update(content), cipher.final()];
    return Buffer.concat([iv, cipher.getAuthTag(), ...encrypted]).toString("base64url");
  }

  /** Returns undefined if the text is foreign, was changed, or is for another reader. */
  open(sealed: string, reader: string): string | undefined {
    const bytes = Buffer.from(sealed, "base64url");
    // Decoding ignores invalid characters, so the text is compared with its canonical form.
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
