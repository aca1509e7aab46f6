/** Which sessions are subscribed to which resources of one child. Only keeps them; sends nothing. */
import type { Uplink } from "../kernel/call.ts";

interface Subscription {
  readonly uplink: Uplink;
  /** The child accepted the subscription. */
  confirmed: boolean;
}

export class Subscriptions {
  readonly #byUri = new Map<string, Map<string, Subscription>>();

  get empty(): boolean {
    return this.#byUri.size === 0;
  }

  /** The URIs of confirmed subscriptions. */
  confirmed(): readonly string[] {
    return [...this.#byUri.keys()].filter((uri) => this.has(uri));
  }

  /** Whether some session has a confirmed subscription to the URI. */
  has(uri: string): boolean {
    for (const { confirmed } of this.#byUri.get(uri)?.values() ?? []) if (confirmed) return true;
    return false;
  }

  /**
   * The session gets updates from now on, before the child has confirmed: the first update may come with the
   * confirmation.
   */
  add(uri: string, session: string, uplink: Uplink): void {
    const sessions = this.#byUri.get(uri) ?? new Map<string, Subscription>();
    const confirmed = sessions.get(session)?.confirmed ?? false;
    this.#byUri.set(uri, sessions.set(session, { uplink, confirmed }));
  }

  confirm(uri: string, session: string): void {
    const subscription = this.#byUri.get(uri)?.get(session);
    if (subscription) subscription.confirmed = true;
  }

  remove(uri: string, session: string): void {
    const sessions = this.#byUri.get(uri);
    sessions?.delete(session);
    if (sessions?.size === 0) this.#byUri.delete(uri);
  }

  /** The subscriptions of a session: URIs and uplinks. */
  by(session: string): readonly (readonly [string, Uplink])[] {
    return [...this.#byUri].flatMap(([uri, sessions]) => {
      const subscription = sessions.get(session);
      return subscription ? [[uri, subscription.uplink] as const] : [];
    });
  }

  /** Removes the subscriptions of a session. Returns the URIs that no session is subscribed to any more. */
  leave(session: string): readonly string[] {
    const unused: string[] = [];
    for (const [uri, sessions] of this.#byUri) {
      if (!sessions.delete(session) || sessions.size > 0) continue;
      this.#byUri.delete(uri);
      unused.push(uri);
    }
    return unused;
  }

  /** The uplinks of sessions that subscribed to this resource, or to one that contains it. */
  of(uri: string): readonly Uplink[] {
    const found = new Map<string, Uplink>();
    for (const [subscribed, sessions] of this.#byUri) {
      const folder = subscribed.endsWith("/") ? subscribed : `${subscribed}/`;
      if (uri !== subscribed && !uri.startsWith(folder)) continue;
      for (const [session, { uplink }] of sessions) found.set(session, uplink);
    }
    return [...found.values()];
  }
}
