/** Who the gateway is to issuers that registered it: one client for each server and issuer, for whoever logs in there. Read when somebody does. */
import { withRegistration } from "../oauth/client.ts";
import { type Book, EMPTY_BOOK, type Registration, readBook } from "../oauth/grant.ts";
import type { Store } from "../store/store.ts";

/** The kind of record. */
const SERVER_CLIENT = "server-client";

export class OwnClients {
  readonly #store: Pick<Store, "records" | "sealer">;

  constructor(store: Pick<Store, "records" | "sealer">) {
    this.#store = store;
  }

  async at(server: string): Promise<readonly Registration[]> {
    return (await this.#book(server)).registrations;
  }

  async add(server: string, added: Registration): Promise<void> {
    const sealed = this.#store.sealer.seal(JSON.stringify(withRegistration(await this.#book(server), added)));
    await this.#store.records.put({ kind: SERVER_CLIENT, id: server, value: { sealed } });
  }

  /** An issuer may have forgotten us: the next login registers anew. */
  async forget(server: string): Promise<void> {
    await this.#store.records.delete(SERVER_CLIENT, server);
  }

  async #book(server: string): Promise<Book> {
    const record = await this.#store.records.get(SERVER_CLIENT, server);
    const { sealed } = (record?.value ?? {}) as { sealed?: string };
    return (
      (sealed === undefined ? undefined : readBook(JSON.parse(this.#store.sealer.open(sealed)))) ?? EMPTY_BOOK
    );
  }
}
