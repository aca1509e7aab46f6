/**
 * Keeps fetched documents in the home folder, with what their server needs to say that they are unchanged.
 */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { dialOf, idOf } from "../../config/identity.ts";
import type { OpenApiSpec } from "../../config/spec.ts";
import { writeAtomic } from "../../home/file.ts";
import { safeName } from "../../home/safe-name.ts";
import { isRecord } from "../../kernel/is-record.ts";

export interface Validators {
  readonly etag?: string;
  readonly lastModified?: string;
}

export interface CachedDocument extends Validators {
  readonly bytes: Buffer;
}

export class DocumentCache {
  readonly #folder: string;
  readonly #dial: string;

  /** The documents of one server, asked with the same credentials. */
  constructor(home: string, spec: OpenApiSpec) {
    this.#folder = join(home, "cache", safeName(idOf(spec)));
    this.#dial = dialOf(spec);
  }

  /** A file that cannot be read is none. */
  async read(uri: string): Promise<CachedDocument | undefined> {
    try {
      const head: unknown = JSON.parse(await readFile(`${this.#fileOf(uri)}.json`, "utf8"));
      if (!isRecord(head) || head["uri"] !== uri) return undefined;
      const { etag, lastModified } = head;
      return {
        bytes: await readFile(this.#fileOf(uri)),
        ...(typeof etag === "string" && { etag }),
        ...(typeof lastModified === "string" && { lastModified }),
      };
    } catch {
      return undefined;
    }
  }

  async write(uri: string, { bytes, etag, lastModified }: CachedDocument): Promise<void> {
    // The validators come last: without theirs the document is fetched again.
    await writeAtomic(this.#fileOf(uri), bytes, { durable: false });
    const head = JSON.stringify({ uri, etag, lastModified });
    await writeAtomic(`${this.#fileOf(uri)}.json`, head, { durable: false });
  }

  #fileOf(uri: string): string {
    const hash = createHash("sha256")
      .update(JSON.stringify([this.#dial, uri]))
      .digest("hex")
      .slice(0, 32);
    return join(this.#folder, `openapi-${hash}`);
  }
}
