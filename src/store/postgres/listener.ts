/**
 * A separate connection for notifications of other processes. It does not report its loss, because the poll
 * reconnects it.
 */
import type { Client } from "pg";

/** One channel per database. The payload is the schema, because each schema may have a store. */
const CHANNEL = "metamcp";

export const NOTIFY = `SELECT pg_notify('${CHANNEL}', current_schema())`;

export class Listener {
  readonly #create: () => Client;
  readonly #onNotification: () => void;
  #client: Client | undefined;
  #closed = false;

  constructor(create: () => Client, onNotification: () => void) {
    this.#create = create;
    this.#onNotification = onNotification;
  }

  get connected(): boolean {
    return this.#client !== undefined;
  }

  async connect(): Promise<void> {
    const client = this.#create();
    client.on("error", () => this.#lost(client));
    client.on("end", () => this.#lost(client));
    try {
      await client.connect();
      const { rows } = await client.query<{ schema: string }>("SELECT current_schema() AS schema");
      client.on("notification", ({ payload }) => {
        if (payload === rows[0]?.schema) this.#onNotification();
      });
      await client.query(`LISTEN ${CHANNEL}`);
    } catch (error) {
      this.#end(client);
      throw error;
    }
    if (this.#closed) this.#end(client);
    else this.#client = client;
  }

  close(): void {
    this.#closed = true;
    if (this.#client) this.#end(this.#client);
    this.#client = undefined;
  }

  #lost(client: Client): void {
    if (this.#client === client) this.#client = undefined;
  }

  #end(client: Client): void {
    client.end().catch(() => {});
  }
}
