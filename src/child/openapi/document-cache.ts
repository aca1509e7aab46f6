/** Keeps fetched documents in the home folder, with what their server needs to say that they are unchanged. */
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

const LINE_END = 0x0a;

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
      const file = await readFile(this.#fileOf(uri));
      const end = file.indexOf(LINE_END);
      const head: unknown = JSON.parse(file.subarray(0, end).toString());
      if (!isRecord(head) || head["uri"] !== uri) return undefined;
      const { etag, lastModified } = head;
      return {
        bytes: file.subarray(end + 1),
        ...(typeof etag === "string" && { etag }),
        ...(typeof lastModified === "string" && { lastModified }),
      };
    } catch {
      return undefined;
    }
  }

  async write(uri: string, { bytes, etag, lastModified }: CachedDocument): Promise<void> {
    const head = Buffer.from(`${JSON.stringify({ uri, etag, lastModified })}\n`);
    await writeAtomic(this.#fileOf(uri), Buffer.concat([head, bytes]), { durable: false });
  }

  #fileOf(uri: string): string {
    const hash = createHash("sha256")
      .update(JSON.stringify([this.#dial, uri]))
      .digest("hex")
      .slice(0, 32);
    return join(this.#folder, `openapi-${hash}`);
  }
}
