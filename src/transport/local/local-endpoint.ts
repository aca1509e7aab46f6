/**
 * Clients inside this process of one endpoint. They count towards its limits and end like all other clients.
 * The caller has authenticated the principal.
 */
import { MetaMcpError } from "../../kernel/errors.ts";
import type { Principal } from "../../kernel/principal.ts";
import { ENDPOINT_ENDED, SESSION_ENDED } from "../end-reasons.ts";
import type { Host } from "../transport.ts";
import { LocalClient, type LocalClientParts } from "./local-client.ts";

const CLIENT_LEFT = new MetaMcpError("cancelled", "the client has left");

interface OpenClient {
  readonly client: LocalClient;
  readonly principal: Principal;
}

export class LocalEndpoint {
  readonly #host: Host;
  readonly #stateless: boolean;
  /** Keyed by session id. */
  readonly #open = new Map<string, OpenClient>();

  constructor(host: Host, { stateless }: { readonly stateless: boolean }) {
    this.#host = host;
    this.#stateless = stateless;
  }

  /** Throws MetaMcpError if a limit of the endpoint is reached or MetaMCP is stopping. */
  connect(principal: Principal, parts: LocalClientParts): LocalClient {
    const host = this.#host;
    if (!host.ready) throw new MetaMcpError("server_unavailable", "MetaMCP is stopping.");
    // People who try a tool need not wait: what is not known yet is counted afterwards.
    const asked = host.askFor?.("inFlight") ?? host.askFor?.("sessions");
    if (!asked && (host.full("inFlight") || !host.makeRoom(principal.id)))
      throw new MetaMcpError("rate_limited", "Too many clients or requests at once. Try again later.");
    const client = new LocalClient(
      (receive) => host.open((message) => receive(message), principal, { stateless: this.#stateless }),
      parts,
    );
    this.#open.set(client.session.id, { client, principal });
    return client;
  }

  /** Ends the session of a client that has finished. */
  left(client: LocalClient): void {
    this.#end(client, CLIENT_LEFT);
  }

  /** Ends all sessions of these principals. */
  endOf(whose: (principal: Principal) => boolean, reason: MetaMcpError): void {
    for (const { client, principal } of this.#open.values()) if (whose(principal)) this.#end(client, reason);
  }

  /** Returns false if there is no such session. */
  endSession(id: string): boolean {
    const open = this.#open.get(id);
    if (open) this.#end(open.client, SESSION_ENDED);
    return open !== undefined;
  }

  end(): void {
    this.endOf(() => true, ENDPOINT_ENDED);
  }

  #end(client: LocalClient, reason: MetaMcpError): void {
    if (!this.#open.delete(client.session.id)) return;
    client.end(reason);
    this.#host.ended(client.session);
  }
}
