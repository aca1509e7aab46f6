/**
 * What one call keeps between its runs: the permissions that people gave, and the limits that counted it. A
 * layer in which the call had to wait ends the run if the configuration may have changed meanwhile: the call
 * then starts again (`middleware/permission.ts`).
 */
import { MetaMcpError } from "./errors.ts";

const ALWAYS = (): boolean => true;

export class Permissions {
  #given: Set<string> | undefined;
  /** Limits that counted the call in an earlier run. */
  #counted: Set<object> | undefined;
  #startsAgain = false;
  #uses = 0;
  /**
   * A layer is asking for a permission now: what is sent to the client comes from the layer, not from the
   * child.
   */
  isAsking = false;
  /**
   * Whether the layers and the rights of the caller are still those of the start of the run. Set by whoever
   * starts it.
   */
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

  /** Another run must follow this one. Returns the error with which the layer must end this run. */
  startAgain(): MetaMcpError {
    this.#startsAgain = true;
    return new MetaMcpError("forbidden", "The call is checked again.");
  }

  /** Called when a run has ended. Returns whether another one must follow. */
  next(): boolean {
    const again = this.#startsAgain;
    this.#startsAgain = false;
    return again;
  }

  /**
   * A run that this limit counted has ended. If another run follows, the limit must not count that one too.
   */
  ended(limit: object): void {
    if (!this.#startsAgain) return;
    this.#counted ??= new Set();
    this.#counted.add(limit);
  }

  isCounted(limit: object): boolean {
    return this.#counted?.has(limit) ?? false;
  }
}
