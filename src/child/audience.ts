/** Who listens to a connection, over all the links it has had: the sessions that used it, from which severity on they want its log, and what they subscribed to. */
import type { Origin, Uplink } from "../kernel/call.ts";
import { fromRaw, type Raw, toRaw } from "../kernel/raw.ts";
import { compareSeverity, isSeverity, type Severity } from "../kernel/severity.ts";
import { member, members } from "../rpc/slice.ts";
import { type Attribution, saidAside } from "./claim.ts";
import type { Dialect } from "./dialect.ts";
import type { Greeting } from "./handshake.ts";
import { Subscriptions } from "./subscriptions.ts";

/** The child, once the handshake is done. */
export interface ChildLine {
  /** It declares that it can be told how much to log. */
  readonly logs: boolean;
  ask(method: string, params: Raw | undefined): Promise<Raw>;
  notify(method: string, params: Raw | undefined): void;
}

export function lineTo({ capabilities }: Greeting, dialect: Dialect, ask: ChildLine["ask"]): ChildLine {
  const logs = member(capabilities, "logging") !== undefined;
  return { logs, ask, notify: (method, params) => dialect.notify(method, params) };
}

export class Audience {
  readonly #levelOf: (session: string) => Severity | undefined;
  readonly #members = new Map<string, Origin>();
  readonly subscriptions = new Subscriptions();
  #line: ChildLine | undefined;
  /** As the child was last told. */
  #level: Severity | undefined;

  constructor(levelOf: (session: string) => Severity | undefined) {
    this.#levelOf = levelOf;
  }

  get empty(): boolean {
    return this.#members.size === 0;
  }

  /** Sessions that use it. */
  get size(): number {
    return this.#members.size;
  }

  get members(): readonly Origin[] {
    return [...this.#members.values()];
  }

  get connected(): boolean {
    return this.#line !== undefined;
  }

  has(session: string): boolean {
    return this.#members.has(session);
  }

  /** Every call comes by. */
  join(origin: Origin): void {
    if (this.#members.has(origin.session)) return;
    this.#members.set(origin.session, origin);
    this.relevel();
  }

  leave(session: string): void {
    if (!this.#members.delete(session)) return;
    for (const uri of this.subscriptions.leave(session)) this.#ask("resources/unsubscribe", { uri });
    this.relevel();
  }

  /** A client comes from another connection, with what it subscribed to there. */
  take(origin: Origin, subscriptions: readonly (readonly [string, Uplink])[]): void {
    this.join(origin);
    for (const [uri, uplink] of subscriptions) {
      const known = this.subscriptions.has(uri);
      this.subscriptions.add(uri, origin.session, uplink);
      this.subscriptions.agreed(uri, origin.session);
      if (!known) this.#ask("resources/subscribe", { uri });
    }
  }

  /** A link stands: the child hears what an earlier one knew. */
  attach(line: ChildLine): void {
    this.#line = line;
    this.#level = undefined;
    this.relevel();
    for (const uri of this.subscriptions.standing()) {
      // It may have changed while nobody could hear of it.
      this.#ask("resources/subscribe", { uri }, () => this.updated(toRaw({ uri })));
    }
  }

  detach(line: ChildLine): void {
    if (this.#line === line) this.#line = undefined;
  }

  notify(method: string, params: Raw | undefined): void {
    this.#line?.notify(method, params);
  }

  /** Tells the child the lowest severity that anyone wants. */
  relevel(): void {
    if (!this.#line?.logs) return;
    let lowest: Severity | undefined;
    for (const session of this.#members.keys()) {
      const level = this.#levelOf(session);
      if (level && (!lowest || compareSeverity(level, lowest) < 0)) lowest = level;
    }
    if (!lowest || lowest === this.#level) return;
    this.#level = lowest;
    this.#ask("logging/setLevel", { level: lowest });
  }

  /** Whether a session wants this log message: others may have asked the child for more. */
  wants(session: string, params: Raw | undefined): boolean {
    const least = this.#levelOf(session);
    const [raw] = least && params ? members(params, ["level"]) : [];
    const level = raw && fromRaw(raw);
    return !least || !isSeverity(level) || compareSeverity(level, least) >= 0;
  }

  /** A resource changed: exactly those who subscribed hear of it. */
  updated(params: Raw | undefined): void {
    const [raw] = params ? members(params, ["uri"]) : [];
    const uri = raw && fromRaw(raw);
    if (typeof uri !== "string") return;
    for (const uplink of this.subscriptions.of(uri)) uplink.notify("notifications/resources/updated", params);
  }

  /**
   * To all of one principal: of the one whose call led to it, on the stream of that call; where that is not known, of
   * whoever is there, if it is one alone. What was said because of one is not for another.
   */
  tell(method: string, params: Raw | undefined, by: Attribution): void {
    const cause = "claims" in by ? by.claims[0]?.origin : undefined;
    const caller = cause?.session;
    const principal = cause?.principal.id ?? this.#only();
    for (const [
      session,
      {
        uplink,
        principal: { id },
      },
    ] of this.#members) {
      if (id !== principal) continue;
      if ("uplink" in by && session === caller) by.uplink.notify(method, params);
      else uplink.notify(method, "claims" in by ? saidAside(by.claims, method, params) : params);
    }
  }

  /** The principal of all who are there; undefined where they are several. */
  #only(): string | undefined {
    const ids = new Set(Array.from(this.#members.values(), ({ principal }) => principal.id));
    return ids.size === 1 ? ids.values().next().value : undefined;
  }

  /** Ours alone: whether it works is no concern of any caller. */
  #ask(method: string, params: unknown, done: () => void = () => {}): void {
    this.#line?.ask(method, toRaw(params)).then(done, () => {});
  }
}
