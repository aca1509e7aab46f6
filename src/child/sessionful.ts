/** How to speak to a child of the session-based era: requests are sent unchanged. */
import type { Clock } from "../kernel/clock.ts";
import type { Raw } from "../kernel/raw.ts";
import type { Signal } from "../kernel/signal.ts";
import type { Peer } from "../rpc/peer.ts";
import type { Claim } from "./claim.ts";
import { type Dialect, sendCall } from "./dialect.ts";
import type { HandshakeResult } from "./handshake.ts";
import { callAsTask, isWanted, runsTasks } from "./task/call-as-task.ts";

export class Sessionful implements Dialect {
  readonly #peer: Peer;
  readonly #clock: Clock;
  #tasks = false;

  constructor(peer: Peer, clock: Clock) {
    this.#peer = peer;
    this.#clock = clock;
  }

  begin({ capabilities }: HandshakeResult): void {
    this.#tasks = runsTasks(capabilities);
    this.#peer.notify("notifications/initialized", undefined);
  }

  request(claim: Claim, method: string, params: Raw, signal: Signal): Promise<Raw> {
    if (!claim.task) return sendCall(this.#peer, claim, { method, params }, signal);
    if (this.#tasks && isWanted(claim))
      return callAsTask({ peer: this.#peer, clock: this.#clock }, claim, params, signal);
    claim.task.request?.declined();
    return sendCall(this.#peer, claim, { method, params }, signal);
  }

  ask(method: string, params: Raw | undefined, signal?: Signal): Promise<Raw> {
    return this.#peer.request(method, params, signal ? { signal } : {});
  }

  notify(method: string, params: Raw | undefined): void {
    this.#peer.notify(method, params);
  }

  forClients(_method: string, params: Raw | undefined): { params: Raw | undefined } {
    return { params };
  }

  cancel({ id }: Claim, error: Error): void {
    if (id !== undefined) this.#peer.cancel(id, error);
  }

  end(): void {}
}
