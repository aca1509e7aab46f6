/**
 * A link over streamable HTTP (2025-03-26 to 2025-11-25). One POST per message; no time limits, no second attempts.
 *
 * What is told how:
 * - `onFailed`: the fault of one request. Any status but 2xx, a reset or a bad answer under it, or a connection that
 *   could not be made while other requests of this link are still being served.
 * - `onClosed`: no request can succeed on this link any more. The server forgot the session, or cannot be connected to
 *   and serves nothing of ours either. Its failure speaks for all requests in flight, so `unsent` is true only if it
 *   holds for all of them; where it holds for some, those hear it through `onFailed` first, in the same turn.
 * - Neither: whatever happens to notifications, answers of ours and the server's own stream.
 */
import type { IncomingMessage } from "node:http";
import type { Timer } from "../../kernel/clock.ts";
import { fromRaw, type Raw } from "../../kernel/raw.ts";
import { ownId } from "../../rpc/id.ts";
import type { Message } from "../../rpc/message.ts";
import { ChildFailure, type HeadersOf, type Link, type LinkEvents } from "../link.ts";
import { readBody } from "./body.ts";
import { seenAs } from "./failure.ts";
import { Flight, type FlightEvents } from "./flight.ts";
import { Flights } from "./flights.ts";
import { Line, type LineOptions } from "./line.ts";
import { isEventStream } from "./message-stream.ts";
import { MAX_REFUSAL_BYTES, readRefusal } from "./refusal.ts";
import { StandingStream } from "./standing-stream.ts";
import { isSuccess, type Wire } from "./wire.ts";

const INITIALIZED = "notifications/initialized";
const CANCELLED = "notifications/cancelled";
const END_SESSION_MS = 1_000;
/** How long other requests may take to learn for themselves that the session is gone. */
const LAST_WORD_MS = 1_000;

export class StreamableLink implements Link {
  readonly peer: string;
  readonly #wire: Wire;
  readonly #line: Line;
  readonly #events: LinkEvents;
  readonly #standing: StandingStream;
  readonly #flights = new Flights();
  readonly #flightEvents: FlightEvents;
  /** What waits: for the server to have heard that the handshake is complete, or for a new link. */
  #held: Message[] | undefined;
  #agreed = false;
  #initialized = false;
  #lost: ChildFailure | undefined;
  #lastWord: Timer | undefined;
  #over = false;
  #ending: Promise<void> | undefined;

  constructor(wire: Wire, events: LinkEvents, options: LineOptions) {
    this.peer = wire.shown;
    this.#wire = wire;
    this.#events = events;
    this.#line = new Line(wire, options);
    this.#standing = new StandingStream(this.#line, {
      onMessage: (message) => this.#deliver(message, undefined),
      onUnknownSession: () => this.#unknownSession(),
    });
    this.#flightEvents = {
      onMessage: (message, flight) => this.#deliver(message, flight.number),
      onRefused: (response, body, flight) => this.#refused(response, body, flight),
      onFailed: (failure, flight) => this.#failed(failure, flight),
      onEnd: (flight) => this.#flights.ended(flight),
    };
  }

  send(message: Message): void {
    if (this.#over) return;
    if (this.#held) {
      this.#held.push(message);
    } else if (message.kind === "request") {
      const flight = new Flight(message.id, this.#line, this.#flightEvents);
      this.#flights.add(flight);
      flight.post(message);
    } else {
      this.#tell(message);
    }
  }

  agreed(protocolVersion: string): void {
    this.#line.agreed(protocolVersion);
    this.#agreed = true;
    this.#listen();
  }

  stateless(headersOf: HeadersOf | undefined): void {
    this.#line.speak(headersOf);
  }

  lastWords(): undefined {
    return undefined;
  }

  close(): Promise<void> {
    this.#ending ??= this.#goodbye();
    return this.#ending;
  }

  #deliver(message: Message, via: number | undefined): void {
    if (this.#over) return;
    this.#flights.settle(message);
    this.#events.onMessage(message, via);
  }

  /** A message that gets no answer. */
  #tell(message: Message): void {
    const method = message.kind === "notification" ? message.method : undefined;
    if (this.#line.stateless && message.kind === "notification" && method === CANCELLED)
      return this.#cancelled(message.params);
    // A request that overtakes this one is refused by servers that take the handshake seriously.
    if (method === INITIALIZED) this.#held = [];
    const request = this.#line.post(message, {
      onResponse: (response) => {
        if (this.#over) return;
        this.#line.heard(response);
        if (!isSuccess(response)) this.#untold(response, method);
        else if (isEventStream(response)) request.abort();
        else response.resume();
        if (method === INITIALIZED) this.#complete();
      },
      onFailure: (failure) => {
        if (this.#over) return;
        this.#line.log.debug("a message could not be sent", {
          url: this.peer,
          method,
          reason: failure.message,
        });
        if (cannotConnect(failure) && !this.#flights.served) this.#die(failure);
        if (method === INITIALIZED) this.#complete();
      },
    });
    if (message.kind === "notification" && method === CANCELLED) this.#cancelled(message.params);
  }

  #untold(response: IncomingMessage, method: string | undefined): void {
    readBody(response, MAX_REFUSAL_BYTES, (body) => {
      if (this.#over) return;
      const verdict = this.#verdict(response, Buffer.isBuffer(body) ? body : undefined);
      if (!(verdict instanceof ChildFailure)) return;
      this.#line.log.debug("a message was refused", { url: this.peer, method, reason: verdict.message });
      if (verdict.unsent) this.#lose(verdict);
    });
  }

  #complete(): void {
    if (this.#over || this.#lost) return;
    const held = this.#held ?? [];
    this.#held = undefined;
    this.#initialized = true;
    for (const message of held) this.send(message);
    this.#listen();
  }

  #listen(): void {
    if (this.#agreed && this.#initialized && !this.#over) this.#standing.open();
  }

  #cancelled(params: Raw | undefined): void {
    const id = params && (fromRaw(params) as { requestId?: unknown } | null)?.requestId;
    if (typeof id === "number") this.#flights.drop(id);
    this.#concludeLoss();
  }

  #refused(response: IncomingMessage, body: Buffer | undefined, flight: Flight): void {
    const verdict = this.#verdict(response, body, flight.number);
    if (!(verdict instanceof ChildFailure)) {
      this.#deliver(verdict, flight.number);
      this.#flights.ended(flight);
    } else if (verdict.unsent) {
      flight.phase = "refused";
      this.#lose(verdict);
    } else {
      this.#failed(verdict, flight);
    }
  }

  #verdict(response: IncomingMessage, body: Buffer | undefined, id?: number): Message | ChildFailure {
    const { session, where } = this.#line;
    return readRefusal(response, body, { where, id, session, mask: this.#wire.mask });
  }

  #failed(failure: ChildFailure, flight: Flight): void {
    this.#flights.ended(flight);
    if (this.#over || flight.answered) return;
    if (cannotConnect(failure) && !this.#flights.served) {
      this.#die(failure);
    } else {
      this.#flights.drop(flight.number);
      this.#events.onFailed(flight.number, failure);
      this.#concludeLoss();
    }
  }

  #unknownSession(): boolean {
    if (this.#over) return true;
    if (this.#flights.size > 0 || this.#line.session === "none") return false;
    const more = { sessionLost: true, unsent: true };
    this.#die(new ChildFailure("other", `${this.peer} no longer knows the session`, more));
    return true;
  }

  /** The session is gone. Whoever else was asked under it will hear the same, and may then go elsewhere. */
  #lose(failure: ChildFailure): void {
    if (!this.#lost) {
      this.#lost = failure;
      this.#held ??= [];
      this.#lastWord = this.#line.clock.after(LAST_WORD_MS, () => this.#die(failure));
    }
    this.#concludeLoss();
  }

  #concludeLoss(): void {
    if (this.#lost && !this.#flights.undecided) this.#die(this.#lost);
  }

  #die(failure: ChildFailure): void {
    if (this.#over) return;
    const { sent } = this.#flights;
    const unsent = this.#flights.unsent();
    for (const message of this.#held ?? []) if (message.kind === "request") unsent.push(ownId(message.id));
    this.#stop();
    this.#ending = this.#wire.close();
    if (sent) for (const id of unsent) this.#events.onFailed(id, seenAs(failure, true));
    this.#events.onClosed(seenAs(failure, !sent));
  }

  async #goodbye(): Promise<void> {
    this.#stop();
    await this.#endSession();
    await this.#wire.close();
  }

  #stop(): void {
    this.#over = true;
    this.#lastWord?.cancel();
    this.#standing.close();
    this.#flights.abort();
  }

  /** Best effort, and short: a server that does not care must not hold anyone up. */
  #endSession(): Promise<void> {
    return new Promise((done) => {
      const timer = this.#line.clock.after(END_SESSION_MS, done);
      const finish = (): void => {
        timer.cancel();
        done();
      };
      if (!this.#line.endSession({ onResponse: finish, onFailure: finish })) finish();
    });
  }
}

/** Nothing could be sent at all. Missing credentials, and those of someone else, are the fault of one request. */
function cannotConnect(failure: ChildFailure): boolean {
  return failure.unsent && failure.category !== "auth" && !failure.sessionLost;
}
