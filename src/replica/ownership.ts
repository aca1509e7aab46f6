/**
 * Finds the replica that has a session, or something else that a request names, and passes the request on to
 * it. Takes sessions of dead replicas up.
 */
import { setTimeout as pause } from "node:timers/promises";
import { isDoneWithin } from "../kernel/at-most.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Log } from "../kernel/log.ts";
import { Lru } from "../kernel/lru.ts";
import { isOfLaterVersion } from "../kernel/seal.ts";
import type { KeptState } from "../session/kept-state.ts";
import type { ResumedSession } from "../session/session.ts";
import type { Replicas, SessionRow } from "../store/replicas.ts";
import { type ForwardedRequest, forwardedOf } from "../transport/http/forwarded.ts";
import type { Found, Owners, StrayRequest } from "../transport/http/owners.ts";
import type { Hop } from "./hop.ts";
import type { ChannelTarget } from "./hop-channel.ts";
import { MISDIRECTED, OWNER } from "./hop-protocol.ts";
import type { Members } from "./members.ts";
import { NotNow, orLater } from "./not-now.ts";
import { NOT_STORED, SaidTexts } from "./said-texts.ts";
import type { SessionFacts, SessionIds } from "./session-id.ts";

/** A request waits so long for the verdict on a replica. */
const VERDICT_MS = 10_000;
const JUDGE_PAUSE_MS = 300;
const MISSING_MS = 2_000;
/** So many sessions that moved are known, and so many replicas that are missing. */
const MAX_KNOWN = 10_000;

export interface OwnershipParts {
  readonly members: Members;
  readonly hop: Hop;
  readonly ids: SessionIds;
  readonly replicas: Replicas;
  readonly clock: Clock;
  readonly log: Log;
}

export class Ownership {
  readonly #parts: OwnershipParts;
  /** The owners of sessions that moved. */
  readonly #moved = new Lru<string, string>(MAX_KNOWN);
  readonly #said: SaidTexts;
  /** Replicas that were looked for in vain, and when. */
  readonly #missing = new Lru<string, number>(MAX_KNOWN);
  #ending: string[] = [];
  #left = false;
  #stopped = false;
  /** How many requests in sessions came from clients. */
  requests = 0;

  constructor(parts: OwnershipParts) {
    this.#parts = parts;
    this.#said = new SaidTexts(parts.replicas, parts.clock);
  }

  /** From now on this replica gives its sessions away. */
  leave(): void {
    this.#left = true;
  }

  /** From now on sessions end because this process ends: others may continue them. */
  stop(): void {
    this.#stopped = true;
  }

  /** Others take the sessions over. */
  get leaving(): boolean {
    return this.#left && this.#another !== undefined;
  }

  /** The youngest of the other replicas, which will not stop soon. */
  get #another(): ChannelTarget | undefined {
    const { members } = this.#parts;
    const others = members.all.filter(({ id, state }) => id !== members.self && state === "serving");
    const [youngest] = others.sort((a, b) => a.sinceMs - b.sinceMs);
    return youngest?.address === undefined ? undefined : { id: youngest.id, address: youngest.address };
  }

  of(endpoint: string): Owners {
    const { members, ids } = this.#parts;
    const leaving = () => this.leaving;
    return {
      self: members.self,
      keepSaid: (said) => this.#said.keep(said),
      idFor: (session, principal, said = NOT_STORED) =>
        ids.seal({ session, owner: members.self, said }, { endpoint, principal }),
      knows: (id, principal) => ids.open(id, { endpoint, principal }) !== undefined,
      keep: (session, kept) => this.#keep(session, kept),
      find: (stray) => this.#find(stray, endpoint),
      get uncertain() {
        return members.uncertain;
      },
      certain: () => members.certain(),
      get leaving() {
        return leaving();
      },
      handOver: (stray) => this.#handOver(stray),
      passTo: (replica, stray) => this.#passTo(replica, stray),
      ended: (session) => this.#end(session),
      counted: () => {
        this.requests += 1;
      },
    };
  }

  async #find(stray: StrayRequest, endpoint: string): Promise<Found> {
    const { principal, request, response } = stray.received;
    const facts = this.#parts.ids.open(stray.id, { endpoint, principal });
    if (!facts) return await orLater(response, () => this.#unknown(stray.id));
    if (this.#ending.includes(facts.session)) return "unknown";
    return await orLater(response, () =>
      forwardedOf(request) ? this.#sayWhere(stray, facts) : this.#search(stray, facts),
    );
  }

  /** While another version runs beside this one, an id that it may have made is not refused for good. */
  async #unknown(id: string): Promise<Found> {
    const { members } = this.#parts;
    const own = members.of(members.self)?.version;
    if (isOfLaterVersion(id) && members.all.some(({ version }) => version !== own))
      throw new NotNow("this session id is of another version of the gateway");
    return "unknown";
  }

  async #passTo(replica: string, stray: StrayRequest): Promise<boolean> {
    return (await orLater(stray.received.response, () => this.pass(replica, stray))) === "answered";
  }

  /** Has this replica answer, unless it is gone. Rejects with `NotNow` or a StoreError. */
  async pass(replica: string, stray: StrayRequest): Promise<"answered" | "gone"> {
    const deadline = this.#parts.clock.now() + VERDICT_MS;
    return (await this.#passOn(stray, replica, deadline)) === "answered" ? "answered" : "gone";
  }

  /** Another replica thought that this one has the session. */
  async #sayWhere({ received }: StrayRequest, facts: SessionFacts): Promise<Found> {
    const { members, replicas } = this.#parts;
    const { from, released } = forwardedOf(received.request) as ForwardedRequest;
    const row = released
      ? await replicas.takeUp(facts.session, from, members.self)
      : await replicas.session(facts.session);
    if (this.#left && !row?.ended && (row?.owner ?? facts.owner) === members.self) {
      received.response.writeHead(MISDIRECTED, { [OWNER]: "" }).end();
      return "answered";
    }
    if (!row || row.ended) return "unknown";
    // This replica is just about to continue the session.
    if (row.owner === members.self) return await this.#resumed(facts, row);
    received.response.writeHead(MISDIRECTED, { [OWNER]: row.owner }).end();
    return "answered";
  }

  async #search(stray: StrayRequest, facts: SessionFacts): Promise<Found> {
    const { members, clock } = this.#parts;
    const deadline = clock.now() + VERDICT_MS;
    let owner = this.#moved.get(facts.session) ?? facts.owner;
    // A session moves only when its owner is gone, so a few turns are enough.
    for (let turn = 0; turn < 4; turn++) {
      const next = owner === members.self ? undefined : await this.#passOn(stray, owner, deadline);
      if (next === "answered") return next;
      const heir = this.#left && owner === members.self ? this.#another : undefined;
      if (heir) {
        const passed = await this.#parts.hop.pass(stray, heir, { released: true });
        if (passed.as === "answered") return "answered";
        await members.refresh();
        continue;
      }
      if (next !== undefined && next !== "gone") {
        owner = next;
        this.#moved.set(facts.session, owner);
        continue;
      }
      if (facts.said === NOT_STORED) return "unknown";
      const row = await this.#within(deadline, this.#rowOf(facts, owner));
      if (row === "unknown") return row;
      if (row === undefined) continue;
      if (row.ended) return "unknown";
      this.#moved.set(facts.session, row.owner);
      if (row.owner === members.self) return await this.#resumed(facts, row);
      owner = row.owner;
    }
    throw new NotNow("the session moves between replicas");
  }

  /** Returns the id of another replica that has the session, or "gone" if it may be taken up. */
  async #passOn(stray: StrayRequest, owner: string, deadline: number): Promise<string> {
    const { members, hop, clock } = this.#parts;
    const since = clock.now();
    for (;;) {
      const { address } = members.of(owner) ?? (await this.#within(deadline, this.#reread(owner))) ?? {};
      if (address === undefined) return "gone";
      const passed = await hop.pass(stray, { id: owner, address });
      if (passed.as === "answered") return "answered";
      if (passed.as === "moved") return passed.owner ?? "gone";
      if (passed.as === "incompatible")
        throw new NotNow("the replica that serves this is of another version of the gateway");
      const judged = members.judge(owner, { refuses: passed.refuses, since });
      const verdict = await this.#within(deadline, judged);
      if (verdict === "gone") return "gone";
      if (verdict === "alive" || clock.now() > deadline)
        throw new NotNow("the replica that serves this cannot be reached");
      await pause(JUDGE_PAUSE_MS);
    }
  }

  /** A store that hangs must not hold a request for longer than the verdict may take. */
  async #within<T>(deadline: number, asked: Promise<T>): Promise<T> {
    const { clock } = this.#parts;
    if (await isDoneWithin(clock, Math.max(0, deadline - clock.now()), asked)) return await asked;
    throw new NotNow("the store does not answer");
  }

  /**
   * A replica that has just started may not be known yet. Clients can name any, so the store is not asked
   * each time.
   */
  async #reread(owner: string) {
    const { members, clock } = this.#parts;
    if (clock.now() - (this.#missing.get(owner) ?? Number.NEGATIVE_INFINITY) < MISSING_MS) return undefined;
    await members.refresh();
    const row = members.of(owner);
    if (!row) this.#missing.set(owner, clock.now());
    return row;
  }

  /** Takes the session of `owner` up, which is gone. Undefined if it came back. */
  async #rowOf({ session }: SessionFacts, owner: string): Promise<SessionRow | "unknown" | undefined> {
    const { members, replicas } = this.#parts;
    // A session that began here and is not here has ended, or others took it.
    if (owner === members.self) return (await replicas.session(session)) ?? "unknown";
    return await replicas.takeUp(session, owner, members.self);
  }

  async #resumed(
    { session, said: digest }: SessionFacts,
    { kept }: SessionRow,
  ): Promise<ResumedSession | "unknown"> {
    const known = await this.#said.read(digest);
    if (!known) return "unknown";
    this.#parts.log.info("continuing a session of another replica");
    return { id: session, said: known, kept: kept as KeptState | undefined };
  }

  #keep(session: string, kept: KeptState): void {
    const { replicas, members, log } = this.#parts;
    replicas.keep(session, members.self, kept).catch((error: unknown) => {
      log.debug("what a client set in its session was not stored", { error });
    });
  }

  async #handOver(stray: StrayRequest): Promise<boolean> {
    const another = this.#another;
    return another !== undefined && (await this.#parts.hop.pass(stray, another)).as === "answered";
  }

  /** Sessions that end in the same moment are stored together. */
  #end(session: string): void {
    if (this.#stopped) return;
    this.#moved.delete(session);
    this.#ending.push(session);
    if (this.#ending.length > 1) return;
    setImmediate(() => {
      const { replicas, members, log } = this.#parts;
      const ended = this.#ending;
      this.#ending = [];
      replicas.end(ended, members.self).catch((error: unknown) => {
        log.debug("ended sessions were not stored", { error });
      });
    });
  }
}
