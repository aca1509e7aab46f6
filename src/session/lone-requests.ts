/** Requests that belong to no session and whose client can be asked nothing: each is over with its answer. */
import { randomUUID } from "node:crypto";
import type { Origin, Uplink } from "../kernel/call.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import type { Principal } from "../kernel/principal.ts";
import { EMPTY_OBJECT } from "../kernel/raw.ts";
import { METHOD_NOT_FOUND, RpcError } from "../rpc/rpc-error.ts";

export interface LoneRequestsParts {
  /** Id of the endpoint they come to. */
  readonly endpoint: string;
  /** What counted as the session of one is over. */
  readonly onEnded: (session: string) => void;
}

/** Of whoever is gone with the answer. */
export const UNASKABLE: Uplink = {
  notify: () => {},
  request: (method) => Promise.reject(RpcError.of(METHOD_NOT_FOUND, `${method} cannot be answered here`)),
};

export class LoneRequests {
  readonly #parts: LoneRequestsParts;
  #serving = 0;
  #refusing = false;

  constructor(parts: LoneRequestsParts) {
    this.#parts = parts;
  }

  get serving(): number {
    return this.#serving;
  }

  /** New ones are turned away from now on. */
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
        uplink: UNASKABLE,
      });
    } finally {
      this.#serving -= 1;
      onEnded(session);
    }
  }

  // Nobody who is gone with the answer can be told of changes.
  tellChanges(): number {
    return 0;
  }
  catchUp(): void {}
}
