/**
 * What one call keeps between its runs: the permissions that people gave, the limits that counted it, and its places in
 * queues. A layer in which the call had to wait ends the run: the call then starts again (`middleware/permission.ts`),
 * because the configuration may have changed during the wait.
 */
import { MetaMcpError } from "./errors.ts";

const ALWAYS = (): boolean => true;

export class Permissions {
  #given: Set<string> | undefined;
  /** Limits that counted the call in an earlier run. */
  #counted: Set<object> | undefined;
  /** Functions that give the kept places back, by queue. */
  #places: Map<object, () => void> | undefined;
  /** The run uses a place of an earlier one. */
  #usesKept = false;
  #startsAgain = false;
  #keepsPlaces = true;
  #isOver = false;
  #uses = 0;
  /** A layer is asking for a permission now: what is sent to the client comes from the layer, not from the child. */
  isAsking = false;
  /** Whether the layers and the rights of the caller are still those of the start of the run. Set by whoever starts it. */
  isCurrent: () => boolean = ALWAYS;

  /** Whether the permission was given. The layer must then let the call pass. */
  use(permission: string): boolean {
    if (!this.#given?.has(permission)) return false;
    this.#uses += 1;
    return true;
  }

  /** How many different permissions were given. */
  get count(): number {
    return this.#given?.size ?? 0;
  }

  /** How often a layer let the call pass because of a permission, in all runs. */
  get uses(): number {
    return this.#uses;
  }

  /** Returns the error with which the layer must end the run. */
  add(permission: string): MetaMcpError {
    this.#given ??= new Set();
    this.#given.add(permission);
    return this.startAgain();
  }

  /** Another run must follow this one, with or without the places in queues. Returns the error with which the layer must end this run. */
  startAgain({ keepPlaces = true } = {}): MetaMcpError {
    this.#startsAgain = true;
    this.#keepsPlaces = keepPlaces;
    if (!keepPlaces) this.leavePlaces();
    return new MetaMcpError("forbidden", "The call is checked again.");
  }

  /** Called when a run has ended. Returns whether another one must follow. */
  next(): boolean {
    const again = this.#startsAgain;
    this.#startsAgain = false;
    this.#usesKept = false;
    if (!again) this.end();
    return again;
  }

  /** No run follows. */
  end(): void {
    this.#isOver = true;
    this.leavePlaces();
  }

  /** A run that this limit counted has ended. If another run follows, the limit must not count that one too. */
  ended(limit: object): void {
    if (!this.#startsAgain) return;
    this.#counted ??= new Set();
    this.#counted.add(limit);
  }

  isCounted(limit: object): boolean {
    return this.#counted?.has(limit) ?? false;
  }

  /** The call no longer uses its place in a queue. If another run follows, it keeps the place for that run. */
  leavePlace(queue: object, leave: () => void): void {
    // A layer may have answered while the call waited inside of it: then the call is over, and no run takes the place.
    if (!this.#startsAgain || !this.#keepsPlaces || this.#isOver) return leave();
    this.#places ??= new Map();
    this.#places.set(queue, leave);
  }

  /** Returns whether the call kept a place in this queue, which it uses from now on. */
  takePlace(queue: object): boolean {
    if (!this.#places?.delete(queue)) return false;
    this.#usesKept = true;
    return true;
  }

  /** Whether the call has places of an earlier run. It must not wait for other calls then: they may wait for these places. */
  get hasPlaces(): boolean {
    return this.#usesKept || (this.#places !== undefined && this.#places.size > 0);
  }

  /** Gives back the places that the run does not use. */
  leavePlaces(): void {
    const places = this.#places;
    this.#places = undefined;
    for (const leave of places?.values() ?? []) leave();
  }
}
