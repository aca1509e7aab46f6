/** The login of one account at one server, as whoever shows and renews it needs it. Changed by one at a time, over all gateways on the store. */
import { MetaMcpError } from "../kernel/errors.ts";
import { type Book, EMPTY_BOOK, readBook } from "../oauth/grant.ts";
import type { TokenBook } from "../oauth/store.ts";
import { StoreError } from "../store/error.ts";
import { withLease } from "../store/lease.ts";
import type { Store } from "../store/store.ts";
import type { KeptLogin, LoginPlace, LoginRecords } from "./login-records.ts";

/** An issuer may take its time while it is held. */
const LEASE = { holdMs: 60_000, waitMs: 45_000 } as const;

export interface BookParts {
  readonly store: Pick<Store, "records" | "sealer">;
  readonly records: LoginRecords;
}

export function keptBook({ store, records }: BookParts, place: LoginPlace): TokenBook {
  const open = (login: KeptLogin | undefined): Book => (login ? opened(store, login) : EMPTY_BOOK);
  const stamp = (): string => String(records.at(place)?.version ?? "");
  return {
    stamp,
    read: async () => open(records.at(place)),
    async update(change) {
      const name = `login ${place.server} ${place.account}`;
      try {
        return await withLease(
          store.records,
          name,
          async () => {
            const { login, version } = await records.fresh(place);
            const before = open(login);
            const book = await change(before);
            if (book === before) return { book, stamp: stamp() };
            if (book.grants.length === 0) await records.remove([place]);
            else await records.put(place, store.sealer.seal(JSON.stringify(book)), version);
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

const books = new WeakMap<KeptLogin, Book>();

/** What cannot be read is no login. */
export function opened({ sealer }: Pick<Store, "sealer">, login: KeptLogin): Book {
  let book = books.get(login);
  if (!book) {
    book = readBook(JSON.parse(sealer.open(login.sealed))) ?? EMPTY_BOOK;
    books.set(login, book);
  }
  return book;
}
