/** The connections of one child by their keys, and who listens to each. Opens and ends none. */
import type { Origin } from "../kernel/call.ts";
import { listKeyOf } from "../kernel/list-key.ts";
import type { Severity } from "../kernel/severity.ts";
import { Audience } from "./audience.ts";
import type { Claim } from "./claim.ts";
import type { Connection } from "./connection.ts";
import { instanceKey, instanceOf, type Load, leastLoaded } from "./instance.ts";

export class Sharing {
  readonly connections = new Map<string, Connection>();
  /** They outlive the connections they listen to. */
  readonly #audiences = new Map<string, Audience>();
  readonly #levelOf: (session: string) => Severity | undefined;

  constructor(levelOf: (session: string) => Severity | undefined) {
    this.#levelOf = levelOf;
  }

  /** Those who share the connection of that key, or would. */
  audience(key: string): Audience {
    let audience = this.#audiences.get(key);
    if (!audience) {
      audience = new Audience(this.#levelOf);
      this.#audiences.set(key, audience);
    }
    return audience;
  }

  /** Which of the instances with these keys a claim goes to: where its session is, else the least loaded. */
  place(keys: readonly string[], claim: Claim, mayStart: () => boolean): number {
    const { origin, beside, lists } = claim;
    const own = beside?.size ? -1 : this.#instanceWith(keys, origin);
    if (own >= 0 && this.connections.get(keys[own] as string)?.usable) return own;
    const loads = keys.map((key) => this.#loadOf(key));
    const chosen = leastLoaded(loads, { avoid: beside, mayStart: () => !lists && mayStart() });
    // Its process is gone, and with it all that it was there for.
    if (own >= 0 && own !== chosen && !lists)
      this.move(origin, this.audience(keys[own] as string), keys[chosen] as string);
    return chosen;
  }

  /** Where this client stays: without a session only with what it subscribed to. */
  #instanceWith(keys: readonly string[], { session, sessionless }: Origin): number {
    return keys.findIndex((key) => {
      const audience = this.#audiences.get(key);
      if (!audience?.has(session)) return false;
      return !sessionless || audience.subscriptions.by(session).length > 0;
    });
  }

  #loadOf(key: string): Load | undefined {
    const connection = this.connections.get(key);
    if (!connection?.usable) return undefined;
    return { calls: connection.calls, sessions: this.#audiences.get(key)?.size ?? 0 };
  }

  /** Where more clients listen than there may be instances, by key. */
  beyond(count: number): readonly (readonly [string, Audience])[] {
    return [...this.#audiences].filter(([key]) => instanceOf(key) >= count);
  }

  /** Where a client listens, by key. */
  heardBy(session: string): readonly (readonly [string, Audience])[] {
    return [...this.#audiences].filter(([, audience]) => audience.has(session));
  }

  /** How many open connections a client listens to. */
  heldBy(session: string): number {
    return this.heardBy(session).filter(([key]) => this.connections.get(key)?.connected).length;
  }

  keyOf(connection: Connection): string | undefined {
    return [...this.connections].find(([, other]) => other === connection)?.[0];
  }

  /** A connection and who listens to it go by another key. False: that one has some already. */
  rekey(from: string, to: string): boolean {
    if (this.connections.has(to) || this.#audiences.get(to)?.empty === false) return false;
    const connection = this.connections.get(from);
    const audience = this.#audiences.get(from);
    this.connections.delete(from);
    this.#audiences.delete(from);
    if (connection) this.connections.set(to, connection);
    if (audience) this.#audiences.set(to, audience);
    return true;
  }

  /** The connection that this client's handshake opened, before it could be asked for its roots: from now on it goes by them. */
  openedEarly(key: string, origin: Origin): Connection | undefined {
    const roots = origin.roots?.known;
    const early = instanceKey(listKeyOf(origin), instanceOf(key));
    const connection = this.connections.get(early);
    if (!roots || !connection?.usable || connection.roots) return undefined;
    if (connection.origin.session !== origin.session || !this.rekey(early, key)) return undefined;
    connection.roots = roots;
    return connection;
  }

  /** A client goes from one to another, with what it subscribed to. False: that was nothing. */
  move(origin: Origin, from: Audience, to: string): boolean {
    const subscribed = from.subscriptions.by(origin.session);
    from.leave(origin.session);
    if (subscribed.length === 0) return false;
    this.audience(to).take(origin, subscribed);
    return true;
  }

  sessionEnded(session: string): void {
    for (const [key, audience] of this.#audiences) {
      audience.leave(session);
      if (audience.empty && !this.connections.has(key)) this.#audiences.delete(key);
    }
  }
}
