/**
 * The sessions that share a connection, with their log levels and their subscriptions. It outlives a
 * connection: when the child is connected again, it tells the new connection the log level and the
 * subscriptions.
 */
import type { Origin, Uplink } from "../kernel/call.ts";
import { fromRaw, type Raw, toRaw } from "../kernel/raw.ts";
import { compareSeverity, isSeverity, type Severity } from "../kernel/severity.ts";
import { member, members } from "../rpc/slice.ts";
import { type Attribution, notifyThroughLayers } from "./claim.ts";
import type { Dialect } from "./dialect.ts";
import type { HandshakeResult } from "./handshake.ts";
import { Subscriptions } from "./subscriptions.ts";

/** The child after the handshake. */
export interface ConnectedChild {
  /** The child declares the `logging` capability. */
  readonly logs: boolean;
  ask(method: string, params: Raw | undefined): Promise<Raw>;
  notify(method: string, params: Raw | undefined): void;
}

export function connectedChild(
  { capabilities }: HandshakeResult,
  dialect: Dialect,
  ask: ConnectedChild["ask"],
): ConnectedChild {
  const logs = member(capabilities, "logging") !== undefined;
  return { logs, ask, notify: (method, params) => dialect.notify(method, params) };
}

/** A connection, as far as its end matters to a session. */
interface Ended {
  readonly whyEnded: string | undefined;
}

export class Audience {
  readonly #levelOf: (session: string) => Severity | undefined;
  readonly #members = new Map<string, Origin>();
  readonly subscriptions = new Subscriptions();
  /** The connection that last answered a call of each session, for servers that hold a session. */
  readonly #answeredBy = new Map<string, Ended>();
  #child: ConnectedChild | undefined;
  /** The level that the child was last told. */
  #level: Severity | undefined;
  /** The child that has not answered yet what level it was told. */
  #telling: ConnectedChild | undefined;

  constructor(levelOf: (session: string) => Severity | undefined) {
    this.#levelOf = levelOf;
  }

  get empty(): boolean {
    return this.#members.size === 0;
  }

  get size(): number {
    return this.#members.size;
  }

  get members(): readonly Origin[] {
    return [...this.#members.values()];
  }

  get connected(): boolean {
    return this.#child !== undefined;
  }

  has(session: string): boolean {
    return this.#members.has(session);
  }

  /** Runs for every call, so it must stay cheap. */
  join(origin: Origin): void {
    if (this.#members.has(origin.session)) return;
    this.#members.set(origin.session, origin);
    this.updateLogLevel();
  }

  leave(session: string): void {
    this.#answeredBy.delete(session);
    if (!this.#members.delete(session)) return;
    for (const uri of this.subscriptions.leave(session)) this.#ask("resources/unsubscribe", { uri });
    this.updateLogLevel();
  }

  /**
   * This connection answered a call of the session. Returns why the one that answered before has ended, if it
   * was another.
   */
  answered(session: string, connection: Ended): string | undefined {
    const before = this.#answeredBy.get(session);
    if (before !== connection) this.#answeredBy.set(session, connection);
    return before && before !== connection ? (before.whyEnded ?? "it was replaced") : undefined;
  }

  /** A client comes from another connection with its subscriptions. */
  adopt(origin: Origin, subscriptions: readonly (readonly [string, Uplink])[]): void {
    this.join(origin);
    for (const [uri, uplink] of subscriptions) {
      const known = this.subscriptions.has(uri);
      this.subscriptions.add(uri, origin.session, uplink);
      this.subscriptions.confirm(uri, origin.session);
      if (!known) this.#ask("resources/subscribe", { uri });
    }
  }

  /** A connection is open: tells the child the log level and the subscriptions. */
  attach(child: ConnectedChild): void {
    this.#child = child;
    this.#level = undefined;
    this.updateLogLevel();
    for (const uri of this.subscriptions.confirmed()) {
      // The resource may have changed while the child was not connected.
      this.#ask("resources/subscribe", { uri }, () => this.resourceUpdated(toRaw({ uri })));
    }
  }

  detach(child: ConnectedChild): void {
    if (this.#child === child) this.#child = undefined;
  }

  /** Sends a notification to the child, if it is connected. */
  notify(method: string, params: Raw | undefined): void {
    this.#child?.notify(method, params);
  }

  /**
   * Tells the child the lowest severity that any session wants. One request at a time, however often clients
   * change it.
   */
  updateLogLevel(): void {
    const child = this.#child;
    if (!child?.logs || this.#telling === child) return;
    let lowest: Severity | undefined;
    for (const session of this.#members.keys()) {
      const level = this.#levelOf(session);
      if (level && (!lowest || compareSeverity(level, lowest) < 0)) lowest = level;
    }
    if (!lowest || lowest === this.#level) return;
    this.#level = lowest;
    this.#telling = child;
    const told = (): void => {
      if (this.#telling !== child) return;
      this.#telling = undefined;
      this.updateLogLevel();
    };
    child.ask("logging/setLevel", toRaw({ level: lowest })).then(told, told);
  }

  /**
   * Whether a session wants this log message. The child may send more than this session wants, because others
   * want more.
   */
  wantsLog(session: string, params: Raw | undefined): boolean {
    const least = this.#levelOf(session);
    const [raw] = least && params ? members(params, ["level"]) : [];
    const level = raw && fromRaw(raw);
    return !least || !isSeverity(level) || compareSeverity(level, least) >= 0;
  }

  /** Notifies the sessions that subscribed to the resource. */
  resourceUpdated(params: Raw | undefined): void {
    const [raw] = params ? members(params, ["uri"]) : [];
    const uri = raw && fromRaw(raw);
    if (typeof uri !== "string") return;
    for (const uplink of this.subscriptions.of(uri)) uplink.notify("notifications/resources/updated", params);
  }

  /**
   * Forwards a notification of the child to all sessions of one principal: the one whose call caused it, and
   * if that is not known, the only principal here. A message caused by one principal is never sent to
   * another. The session that made the call gets it on the stream of that call.
   */
  forward(method: string, params: Raw | undefined, by: Attribution): void {
    const cause = "claims" in by ? by.claims[0]?.origin : undefined;
    const caller = cause?.session;
    const principal = cause?.principal.id ?? this.#onlyPrincipal();
    for (const [
      session,
      {
        uplink,
        principal: { id },
      },
    ] of this.#members) {
      if (id !== principal) continue;
      if ("uplink" in by && session === caller) by.uplink.notify(method, params);
      else notifyThroughLayers("claims" in by ? by.claims : [], uplink, method, params);
    }
  }

  /** The id of the principal if all sessions have the same one. */
  #onlyPrincipal(): string | undefined {
    const ids = new Set(Array.from(this.#members.values(), ({ principal }) => principal.id));
    return ids.size === 1 ? ids.values().next().value : undefined;
  }

  /** A request of MetaMCP itself. Its failure is ignored, because no caller waits for it. */
  #ask(method: string, params: unknown, done: () => void = () => {}): void {
    this.#child?.ask(method, toRaw(params)).then(done, () => {});
  }
}
