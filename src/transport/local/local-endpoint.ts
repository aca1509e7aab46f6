/** Clients of one endpoint that live in this process: opened for whoever has been let in, counted and ended like all others. */
import { MetaMcpError } from "../../kernel/errors.ts";
import { isMeant, type Principal } from "../../kernel/principal.ts";
import { ENDED, OVER, REVOKED } from "../ended.ts";
import type { Host } from "../transport.ts";
import { LocalClient, type LocalClientParts } from "./local-client.ts";

const LEFT = new MetaMcpError("cancelled", "the client has left");

interface Open {
  readonly client: LocalClient;
  readonly principal: Principal;
}

export class LocalEndpoint {
  readonly #host: Host;
  readonly #stateless: boolean;
  /** By id of the session. */
  readonly #open = new Map<string, Open>();

  constructor(host: Host, { stateless }: { readonly stateless: boolean }) {
    this.#host = host;
    this.#stateless = stateless;
  }

  /** Throws MetaMcpError where there is no room, or nobody is let in any more. */
  connect(principal: Principal, parts: LocalClientParts): LocalClient {
    const host = this.#host;
    if (!host.ready) throw new MetaMcpError("server_unavailable", "MetaMCP is stopping.");
    for (const what of ["sessions", "inFlight"] as const)
      if (host.full(what))
        throw new MetaMcpError("rate_limited", "Too many clients or requests at once. Try again later.");
    const client = new LocalClient(
      (receive) => host.open((message) => receive(message), principal, this.#stateless),
      parts,
    );
    this.#open.set(client.session.id, { client, principal });
    return client;
  }

  /** It has what it came for. */
  left(client: LocalClient): void {
    this.#end(client, LEFT);
  }

  /** Nothing of this principal goes on, nor what it does in the name of others. */
  endOf(meant: Principal): void {
    for (const { client, principal } of this.#open.values())
      if (isMeant(meant, principal) || (!meant.key && meant.id === principal.actor?.id))
        this.#end(client, REVOKED);
  }

  /** False: there is no such session. */
  endSession(id: string): boolean {
    const open = this.#open.get(id);
    if (open) this.#end(open.client, ENDED);
    return open !== undefined;
  }

  end(): void {
    for (const { client } of this.#open.values()) this.#end(client, OVER);
  }

  #end(client: LocalClient, reason: MetaMcpError): void {
    if (!this.#open.delete(client.session.id)) return;
    client.end(reason);
    this.#host.ended(client.session);
  }
}
