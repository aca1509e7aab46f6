/** The sessions that this gateway shares with other replicas, and the listener at which they reach it. */
import type { IncomingMessage, RequestListener } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import type { Clock } from "../kernel/clock.ts";
import type { Log } from "../kernel/log.ts";
import type { Session } from "../session/session.ts";
import type { ReplicaRow, Replicas } from "../store/replicas.ts";
import type { Sealer } from "../store/store.ts";
import type { Owners, StrayRequest } from "../transport/http/owners.ts";
import { ASK, Asks } from "./ask.ts";
import { ChannelAgent } from "./channel.ts";
import { endpointOf } from "./endpoint-of.ts";
import { Hop } from "./hop.ts";
import { ReplicaListener } from "./listener.ts";
import { isSilent } from "./liveness.ts";
import type { Members } from "./members.ts";
import { isForLater } from "./not-now.ts";
import { Ownership } from "./ownership.ts";
import { problemAt } from "./probe.ts";
import { SessionIds } from "./session-id.ts";

const HAND_OVER_PAUSE_MS = 20;
/** The question whether the store answers a replica. */
const REACHES_STORE = "store";
/** After this time all replicas know that one has left, even if a notification is lost. */
const KNOWN_MS = 1_000;

export interface SharingParts {
  /** The id of this replica. */
  readonly id: string;
  /** HOST:PORT; port 0 picks a free one. */
  readonly address: string;
  readonly members: Members;
  readonly replicas: Replicas;
  readonly sealer: Pick<Sealer, "derive">;
  readonly clock: Clock;
  readonly log: Log;
  readonly addressOf: (request: IncomingMessage) => string;
  /** The sessions that this process has. */
  readonly sessions: () => readonly string[];
  /** Ends sessions here that go on at other replicas. Returns what is left that must end here. */
  readonly release: (which: (session: Pick<Session, "id" | "serving">) => boolean) => number;
  /** Serves a request as if it had come from its client. */
  readonly serve: RequestListener;
}

export class Sharing {
  readonly #parts: SharingParts;
  /** What this replica asks the others, and answers them. */
  readonly asks: Asks;
  /** Further paths of the internal listener, by what they begin with. */
  readonly routes = new Map<string, RequestListener>();
  readonly #key: Buffer;
  readonly #listener: ReplicaListener;
  readonly #agent: ChannelAgent;
  readonly #hop: Hop;
  readonly #ownership: Ownership;

  constructor(parts: SharingParts) {
    this.#parts = parts;
    const { id, members, replicas, sealer, clock, log, addressOf, serve } = parts;
    const key = sealer.derive("replica channel");
    this.#key = key;
    this.#agent = new ChannelAgent(key, id);
    this.asks = new Asks({ agent: this.#agent, members });
    // Whoever removed the asker may have its sessions, also if the store has answered nobody since.
    this.asks.answer(REACHES_STORE, (_, from) => members.reachesStore || !members.of(from));
    this.routes.set(ASK, (request, response) => void this.asks.take(request, response));
    this.#listener = new ReplicaListener({ key, self: id, serve, routes: this.routes });
    this.#hop = new Hop({ agent: this.#agent, self: id, addressOf });
    const ids = new SessionIds(sealer.derive("replica sessions"));
    this.#ownership = new Ownership({ members, hop: this.#hop, ids, replicas, clock, log });
  }

  /** An agent of its own for requests to other replicas. */
  newAgent(): ChannelAgent {
    return new ChannelAgent(this.#key, this.#parts.id);
  }

  /** The sessions of one endpoint. */
  owners(endpoint: string): Owners {
    return this.#ownership.of(endpoint);
  }

  /** Has another replica answer. "later": it lives and cannot be reached. */
  async pass(replica: string, stray: StrayRequest): Promise<"answered" | "gone" | "later"> {
    try {
      return await this.#ownership.pass(replica, stray);
    } catch (error) {
      if (!isForLater(error)) throw error;
      return "later";
    }
  }

  /** The share of the requests in sessions that were passed on to another replica. */
  get forwarded(): number {
    const { requests } = this.#ownership;
    return requests === 0 ? 0 : Math.min(1, this.#hop.passed / requests);
  }

  /** Resolves with the address for the other replicas. */
  async listen(): Promise<string> {
    const address = await this.#listener.listen(endpointOf(this.#parts.address));
    this.#parts.log.info("listening for other replicas", { replica: this.#parts.id, address });
    return address;
  }

  /** Sessions that end from now on end because this process does. */
  stop(): void {
    this.#ownership.stop();
  }

  /** Call it after the row is gone. Others may not know that yet, and get an answer for a while. */
  async close(): Promise<void> {
    if (this.#parts.members.all.length > 1) await pause(KNOWN_MS);
    await this.#listener.close();
    this.#hop.close();
    this.#agent.destroy();
  }

  /** Another replica has come. Logs it if its address does not reach it. */
  async came({ id, address }: { readonly id: string; readonly address: string | undefined }): Promise<void> {
    const { id: self, log } = this.#parts;
    const problem = address === undefined ? undefined : await problemAt({ id, address }, self, this.#agent);
    if (problem !== undefined) log.error(`${problem}; its sessions cannot be used here`);
  }

  /**
   * Whether the store answers another replica, or this one was removed before. True also if it is not known:
   * the store may answer a replica that cannot be reached from here.
   */
  async othersReachStore(): Promise<boolean> {
    const { answers, silent, refusing } = await this.asks.askAll<boolean>(REACHES_STORE);
    return silent.length > refusing.length || answers.some(({ value }) => value);
  }

  /** Another replica is dead, or has stopped. */
  gone({ id, silentMs }: Pick<ReplicaRow, "id" | "silentMs">): void {
    this.#hop.gone(id, { stopped: !isSilent(silentMs) });
  }

  /** The others called this replica dead. It keeps the sessions that nobody has taken up. */
  async giveUpLost(): Promise<void> {
    const { replicas, sessions, release, id, log } = this.#parts;
    const lost = await replicas.lost(sessions(), id);
    log.warn("the other replicas took this one for dead", { sessionsLost: lost.length });
    const ids = new Set(lost);
    release((session) => ids.has(session.id));
  }

  async handOver(withinMs: number): Promise<void> {
    const { clock, release } = this.#parts;
    this.#ownership.leave();
    if (!this.#ownership.leaving) return;
    const end = clock.now() + withinMs;
    const isBusy = (): boolean => release(({ serving }) => serving === 0) > 0 || this.#hop.relaying > 0;
    while (isBusy() && clock.now() < end) await pause(HAND_OVER_PAUSE_MS);
    release(() => true);
    this.#hop.endStreams();
  }
}
