/** Who wants to hear about which resource of one child. A value with names for its changes; sends nothing. */
import type { Uplink } from "../kernel/call.ts";

interface Subscription {
  readonly uplink: Uplink;
  /** The child has agreed. */
  standing: boolean;
}

export class Subscriptions {
  readonly #byUri = new Map<string, Map<string, Subscription>>();

  get empty(): boolean {
    return this.#byUri.size === 0;
  }

  /** Those that the child has agreed to. */
  standing(): readonly string[] {
    return [...this.#byUri.keys()].filter((uri) => this.has(uri));
  }

  has(uri: string): boolean {
    for (const { standing } of this.#byUri.get(uri)?.values() ?? []) if (standing) return true;
    return false;
  }

  /** Heard from now on, though the child may still refuse: its first word may come with its consent. */
  add(uri: string, session: string, uplink: Uplink): void {
    const sessions = this.#byUri.get(uri) ?? new Map<string, Subscription>();
    const before = sessions.get(session)?.standing ?? false;
    this.#byUri.set(uri, sessions.set(session, { uplink, standing: before }));
  }

  agreed(uri: string, session: string): void {
    const subscription = this.#byUri.get(uri)?.get(session);
    if (subscription) subscription.standing = true;
  }

  remove(uri: string, session: string): void {
    const sessions = this.#byUri.get(uri);
    sessions?.delete(session);
    if (sessions?.size === 0) this.#byUri.delete(uri);
  }

  /** What a session subscribed to, and its way back. */
  by(session: string): readonly (readonly [string, Uplink])[] {
    return [...this.#byUri].flatMap(([uri, sessions]) => {
      const subscription = sessions.get(session);
      return subscription ? [[uri, subscription.uplink] as const] : [];
    });
  }

  /** Returns what nobody listens to any more. */
  leave(session: string): readonly string[] {
    const left: string[] = [];
    for (const [uri, sessions] of this.#byUri) {
      if (!sessions.delete(session) || sessions.size > 0) continue;
      this.#byUri.delete(uri);
      left.push(uri);
    }
    return left;
  }

  /** Who subscribed to this resource, or to one that it is a part of. */
  of(uri: string): readonly Uplink[] {
    const found = new Map<string, Uplink>();
    for (const [wanted, sessions] of this.#byUri) {
      const whole = wanted.endsWith("/") ? wanted : `${wanted}/`;
      if (uri !== wanted && !uri.startsWith(whole)) continue;
      for (const [session, { uplink }] of sessions) found.set(session, uplink);
    }
    return [...found.values()];
  }
}
