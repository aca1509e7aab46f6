/**
 * Requests that belong to no session and end with their answer, such as those over plain HTTP. Their client
 * cannot be asked anything.
 */

import { randomUUID } from "node:crypto";
import type { Origin } from "../kernel/call.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import type { Principal } from "../kernel/principal.ts";
import { EMPTY_OBJECT } from "../kernel/raw.ts";
import { NO_UPLINK } from "../rpc/no-uplink.ts";

export interface SessionlessRequestsParts {
  /** Id of the endpoint that receives the requests. */
  readonly endpoint: string;
  /** Called with the session id that was made for a request, when the request has ended. */
  readonly onEnded: (session: string) => void;
}

export class SessionlessRequests {
  readonly #parts: SessionlessRequestsParts;
  #serving = 0;
  #refusing = false;

  constructor(parts: SessionlessRequestsParts) {
    this.#parts = parts;
  }

  get serving(): number {
    return this.#serving;
  }

  /** Refuses all further requests. */
  refuse(): void {
    this.#refusing = true;
  }

  async run<T>(
    principal: Principal,
    work: (origin: Origin) => Promise<T>,
    more: Pick<Origin, "surface"> = {},
  ): Promise<T> {
    if (this.#refusing) throw new MetaMcpError("server_unavailable", "MetaMCP is stopping.");
    const { endpoint, onEnded } = this.#parts;
    const session = randomUUID();
    this.#serving += 1;
    try {
      return await work({
        endpoint,
        principal,
        session,
        sessionless: true,
        unlisted: true,
        ...more,
        capabilities: EMPTY_OBJECT,
        uplink: NO_UPLINK,
      });
    } finally {
      this.#serving -= 1;
      onEnded(session);
    }
  }

  // These clients receive only their answer, so they cannot be notified of changes.
  tellChanges(): number {
    return 0;
  }
  loadMissingLists(): void {}
}
