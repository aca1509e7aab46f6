/** The tokens of one account at one server, kept in the store. A lease makes sure that only one gateway at a time changes them. */
import { MetaMcpError } from "../kernel/errors.ts";
import { type Book, EMPTY_BOOK, readBook } from "../oauth/grant.ts";
import type { TokenBook } from "../oauth/store.ts";
import { StoreError } from "../store/error.ts";
import { withLease } from "../store/lease.ts";
import type { Store } from "../store/store.ts";
import type { LoginKey, LoginRecords, StoredLogin } from "./login-records.ts";

/** Long enough for a slow issuer, which is called while the lease is held. */
const LEASE = { holdMs: 60_000, waitMs: 45_000 } as const;

export interface BookParts {
  readonly store: Pick<Store, "records" | "sealer">;
  readonly records: LoginRecords;
}

export function storedTokenBook({ store, records }: BookParts, key: LoginKey): TokenBook {
  const open = (login: StoredLogin | undefined): Book => (login ? openBook(store, login) : EMPTY_BOOK);
  const stamp = (): string => String(records.at(key)?.version ?? "");
  return {
    stamp,
    read: async () => open(records.at(key)),
    async update(change) {
      const name = `login ${key.server} ${key.account}`;
      try {
        return await withLease(
          store.records,
          name,
          async () => {
            const { login, version } = await records.fresh(key);
            const before = open(login);
            const book = await change(before);
            if (book === before) return { book, stamp: stamp() };
            if (book.grants.length === 0) await records.remove([key]);
            else await records.put(key, store.sealer.seal(JSON.stringify(book)), version);
            return { book, stamp: stamp() };
          },
          LEASE,
        );
      } catch (error) {
        if (!StoreError.is(error)) throw error;
        throw new MetaMcpError("auth_required", "the store cannot be written now", {
          cause: error,
        });
      }
    },
  };
}

const books = new WeakMap<StoredLogin, Book>();

/** Decrypts a login. An unreadable one gives an empty book. */
export function openBook({ sealer }: Pick<Store, "sealer">, login: StoredLogin): Book {
  let book = books.get(login);
  if (!book) {
    book = readBook(JSON.parse(sealer.open(login.sealed))) ?? EMPTY_BOOK;
    books.set(login, book);
  }
  return book;
}
