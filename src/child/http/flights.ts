/** The requests of one link that are under way, and the streams that outlive their answer. Tells nobody; only keeps them. */
import { ownId } from "../../rpc/id.ts";
import type { Message } from "../../rpc/message.ts";
import type { Flight } from "./flight.ts";

/** Streams that were answered but not ended: some servers never end them. */
const MAX_LINGERING = 8;

export class Flights {
  readonly #waiting = new Map<number, Flight>();
  readonly #lingering = new Set<Flight>();

  add(flight: Flight): void {
    this.#waiting.set(flight.number, flight);
  }

  get size(): number {
    return this.#waiting.size;
  }

  /** One of them is being served at this moment. */
  get served(): boolean {
    return this.#some((flight) => flight.live);
  }

  /** One of them has not heard yet whether it is taken. */
  get undecided(): boolean {
    return this.#some((flight) => flight.phase === "waiting");
  }

  /** One of them may have arrived. */
  get sent(): boolean {
    return this.#some((flight) => flight.sent);
  }

  unsent(): number[] {
    return [...this.#waiting.values()].filter((flight) => !flight.sent).map((flight) => flight.number);
  }

  /** Its answer came, on whatever stream. */
  settle(message: Message): void {
    if (message.kind !== "result" && message.kind !== "error") return;
    const flight = message.id && this.#waiting.get(ownId(message.id));
    if (!flight) return;
    this.#waiting.delete(flight.number);
    flight.answered = true;
    this.#lingering.add(flight);
    if (this.#lingering.size > MAX_LINGERING) this.#endOldest();
  }

  /** Its stream has ended. */
  ended(flight: Flight): void {
    this.#lingering.delete(flight);
  }

  /** Nobody waits for it any more; who still read its stream would only pay for it. */
  drop(id: number): void {
    const flight = this.#waiting.get(id);
    this.#waiting.delete(id);
    flight?.abort();
  }

  abort(): void {
    for (const flight of this.#waiting.values()) flight.abort();
    for (const flight of this.#lingering) flight.abort();
    this.#waiting.clear();
    this.#lingering.clear();
  }

  #endOldest(): void {
    const [oldest] = this.#lingering;
    if (!oldest) return;
    this.#lingering.delete(oldest);
    oldest.abort();
  }

  #some(test: (flight: Flight) => boolean): boolean {
    for (const flight of this.#waiting.values()) if (test(flight)) return true;
    return false;
  }
}
