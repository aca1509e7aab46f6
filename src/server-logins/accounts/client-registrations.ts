/**
 * OAuth client registrations of the gateway: one per server and issuer, used for all logins there. Read from
 * the store at each login.
 */

import type { Store } from "../../store/store.ts";
import { withRegistration } from "../client.ts";
import { EMPTY_LOGIN_DATA, type LoginData, type Registration, readLoginData } from "../grant.ts";

/** The kind of record. */
const SERVER_CLIENT = "server-client";

export class ClientRegistrations {
  readonly #store: Pick<Store, "records" | "sealer">;

  constructor(store: Pick<Store, "records" | "sealer">) {
    this.#store = store;
  }

  async at(server: string): Promise<readonly Registration[]> {
    return (await this.#loginData(server)).registrations;
  }

  async add(server: string, added: Registration): Promise<void> {
    const sealed = this.#store.sealer.seal(
      JSON.stringify(withRegistration(await this.#loginData(server), added)),
    );
    await this.#store.records.put({ kind: SERVER_CLIENT, id: server, value: { sealed } });
  }

  /**
   * Deletes the registrations, because an issuer may have deleted them too. The next login registers again.
   */
  async forget(server: string): Promise<void> {
    await this.#store.records.delete(SERVER_CLIENT, server);
  }

  async #loginData(server: string): Promise<LoginData> {
    const record = await this.#store.records.get(SERVER_CLIENT, server);
    const { sealed } = (record?.value ?? {}) as { sealed?: string };
    return (
      (sealed === undefined ? undefined : readLoginData(JSON.parse(this.#store.sealer.open(sealed)))) ??
      EMPTY_LOGIN_DATA
    );
  }
}
