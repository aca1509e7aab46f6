/**
 * The connections of one child and their audiences, by key, and which key a client uses. Opens and ends no
 * connection.
 */
import type { Origin } from "../kernel/call.ts";
import { listKeyOf } from "../kernel/list-key.ts";
import type { Severity } from "../kernel/severity.ts";
import { Audience } from "./audience.ts";
import type { Claim } from "./claim.ts";
import type { Connection } from "./connection.ts";
import { instanceKey, instanceOf, type Load, leastLoaded } from "./instance.ts";

export class ConnectionTable {
  readonly connections = new Map<string, Connection>();
  /** Audiences outlive the connections. */
  readonly #audiences = new Map<string, Audience>();
  readonly #levelOf: (session: string) => Severity | undefined;

  constructor(levelOf: (session: string) => Severity | undefined) {
    this.#levelOf = levelOf;
  }

  /** The audience of that key, whether or not there is a connection. */
  audience(key: string): Audience {
    let audience = this.#audiences.get(key);
    if (!audience) {
      audience = new Audience(this.#levelOf);
      this.#audiences.set(key, audience);
    }
    return audience;
  }

  /** Chooses the instance for a claim: the one that its session is bound to, otherwise the least loaded. */
  chooseInstance(keys: readonly string[], claim: Claim, mayStart: () => boolean): number {
    const { origin, beside, lists } = claim;
    const own = beside?.size ? -1 : this.#instanceWith(keys, origin);
    if (own >= 0 && this.connections.get(keys[own] as string)?.usable) return own;
    const loads = keys.map((key) => this.#loadOf(key));
    const chosen = leastLoaded(loads, { avoid: beside, mayStart: () => !lists && mayStart() });
    // The process that the session was bound to has ended, and its state with it.
    if (own >= 0 && own !== chosen && !lists)
      this.move(origin, this.audience(keys[own] as string), keys[chosen] as string);
    return chosen;
  }

  /**
   * The instance that this client is bound to. A client without a session is bound only by its subscriptions.
   */
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

  /** The audiences of instances from number `count` on, with their keys. */
  audiencesFrom(count: number): readonly (readonly [string, Audience])[] {
    return [...this.#audiences].filter(([key]) => instanceOf(key) >= count);
  }

  /** The audiences that a session has joined, with their keys. */
  joinedBy(session: string): readonly (readonly [string, Audience])[] {
    return [...this.#audiences].filter(([, audience]) => audience.has(session));
  }

  /** Number of open connections that a session uses. */
  heldBy(session: string): number {
    return this.joinedBy(session).filter(([key]) => this.connections.get(key)?.connected).length;
  }

  keyOf(connection: Connection): string | undefined {
    return [...this.connections].find(([, other]) => other === connection)?.[0];
  }

  /** Gives a connection and its audience another key. Returns false if that key is in use. */
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

  /**
   * The connection that was opened for this client before its roots were known. It gets the key with the
   * roots.
   */
  takeEarly(key: string, origin: Origin): Connection | undefined {
    const roots = origin.roots?.known;
    const early = instanceKey(listKeyOf(origin), instanceOf(key));
    const connection = this.connections.get(early);
    if (!roots || !connection?.usable || connection.roots) return undefined;
    if (connection.origin.session !== origin.session || !this.rekey(early, key)) return undefined;
    connection.roots = roots;
    return connection;
  }

  /**
   * Moves a client with its subscriptions to the audience of another key. Returns false if it has no
   * subscriptions.
   */
  move(origin: Origin, from: Audience, to: string): boolean {
    const subscribed = from.subscriptions.by(origin.session);
    from.leave(origin.session);
    if (subscribed.length === 0) return false;
    this.audience(to).adopt(origin, subscribed);
    return true;
  }

  sessionEnded(session: string): void {
    for (const [key, audience] of this.#audiences) {
      audience.leave(session);
      if (audience.empty && !this.connections.has(key)) this.#audiences.delete(key);
    }
  }
}
