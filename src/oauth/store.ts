/** The tokens of one server on disk: `oauth/<server>/tokens.json` below the home folder, for the owner alone. */
import { chmodSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { codeOf, readIfThere, writeAtomic } from "../home/file.ts";
import { withLock } from "../home/lock.ts";
import { safeName } from "../home/safe-name.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import { type Book, EMPTY_BOOK, readBook } from "./grant.ts";

/** An issuer may take its time while the lock is held. */
const LOCK_MS = 45_000;

/** What stands in the file, and the stamp of the file that holds exactly this. */
export interface StampedBook {
  readonly book: Book;
  readonly stamp: string;
}

/** All that is kept about the logins at one server. */
export interface TokenBook {
  /** Changes whenever the book does; cheap enough to be asked before every request. */
  stamp(): string;
  /** Rejects with a reason for people where it is there and cannot be used. */
  read(): Promise<Book>;
  /** Read, changed and written while nobody else does. `change` may take its time; the same book means no change. */
  update(change: (book: Book) => Book | Promise<Book>): Promise<StampedBook>;
}

export class TokenStore implements TokenBook {
  readonly path: string;
  readonly #server: string;

  constructor(home: string, server: string) {
    this.#server = server;
    this.path = join(home, "oauth", safeName(server), "tokens.json");
  }

  /** Changes whenever the file does; cheap enough to be asked before every request. */
  stamp(): string {
    try {
      const seen = statSync(this.path, { throwIfNoEntry: false });
      return seen ? `${seen.ino} ${seen.mtimeMs} ${seen.size}` : "";
    } catch (error) {
      return codeOf(error) ?? "";
    }
  }

  /** Rejects with a reason for people where the file is there and cannot be used. */
  async read(): Promise<Book> {
    const text = await this.#text();
    if (text === undefined) return EMPTY_BOOK;
    const book = readBook(parsed(text));
    if (book) return book;
    throw this.#unusable("has unexpected content");
  }

  /** Read, changed and written while nobody else does. `change` may take its time; the same book means no change. */
  async update(change: (book: Book) => Book | Promise<Book>): Promise<StampedBook> {
    return await this.#locked(async () => {
      const before = await this.read();
      const book = await change(before);
      if (book !== before) await this.#write(book);
      return { book, stamp: this.stamp() };
    });
  }

  /** As `update`, on an empty book where the old one cannot be used. */
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
    // A folder that was there before, with other rights, is no place for tokens.
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
