/** Stores the tokens of one server on disk, in `oauth/<server>/tokens.json` in METAMCP_HOME, readable only by the owner. */
import { chmodSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { codeOf, readIfThere, writeAtomic } from "../home/file.ts";
import { withLock } from "../home/lock.ts";
import { safeName } from "../home/safe-name.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import { type Book, EMPTY_BOOK, readBook } from "./grant.ts";

/** Long, because the lock is held while an issuer renews a token. */
const LOCK_MS = 45_000;

/** A book, and the stamp of the file with exactly this content. */
export interface StampedBook {
  readonly book: Book;
  readonly stamp: string;
}

/** The store of one book. */
export interface TokenBook {
  /** Changes whenever the book changes. Cheap enough to call before every request. */
  stamp(): string;
  /** Rejects with a message for users if the stored data is invalid. */
  read(): Promise<Book>;
  /** Changes the book under a lock. `change` may be slow; if it returns the same object, nothing is written. */
  update(change: (book: Book) => Book | Promise<Book>): Promise<StampedBook>;
}

export class TokenStore implements TokenBook {
  readonly path: string;
  readonly #server: string;

  constructor(home: string, server: string) {
    this.#server = server;
    this.path = join(home, "oauth", safeName(server), "tokens.json");
  }

  stamp(): string {
    try {
      const seen = statSync(this.path, { throwIfNoEntry: false });
      return seen ? `${seen.ino} ${seen.mtimeMs} ${seen.size}` : "";
    } catch (error) {
      return codeOf(error) ?? "";
    }
  }

  async read(): Promise<Book> {
    const text = await this.#text();
    if (text === undefined) return EMPTY_BOOK;
    const book = readBook(parsed(text));
    if (book) return book;
    throw this.#unusable("has unexpected content");
  }

  async update(change: (book: Book) => Book | Promise<Book>): Promise<StampedBook> {
    return await this.#locked(async () => {
      const before = await this.read();
      const book = await change(before);
      if (book !== before) await this.#write(book);
      return { book, stamp: this.stamp() };
    });
  }

  /** Like `update`, but starts with an empty book if the stored one is invalid. */
  async begin(change: (book: Book) => Book): Promise<void> {
    await this.#locked(async () => {
      const before = await this.read().catch(() => EMPTY_BOOK);
      await this.#write(change(before));
    });
  }

  async #locked<T>(run: () => Promise<T>): Promise<T> {
    return await withLock(this.path, run, { timeoutMs: LOCK_MS });
  }

  async #write(book: Book): Promise<void> {
    await writeAtomic(this.path, `${JSON.stringify(book, undefined, 2)}\n`);
    // Existing folders may have wider permissions.
    for (const folder of [dirname(this.path), dirname(dirname(this.path))]) chmodSync(folder, 0o700);
  }

  async #text(): Promise<string | undefined> {
    try {
      return await readIfThere(this.path);
    } catch (error) {
      throw this.#unusable(`cannot be read (${codeOf(error) ?? "unknown reason"})`);
    }
  }

  #unusable(why: string): MetaMcpError {
    return new MetaMcpError("auth_required", `the token file ${this.path} ${why}; a new login replaces it`, {
      server: this.#server,
    });
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
