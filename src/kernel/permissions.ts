/**
 * The permissions that people gave for one call. A layer that has to wait for a permission
 * adds it here and ends the run: the call then starts again (`middleware/permission.ts`), because the configuration may
 * have changed during the wait.
 */
import { MetaMcpError } from "./errors.ts";

export class Permissions {
  #given: Set<string> | undefined;
  /** Limits that counted the call in an earlier run. */
  #counted: Set<object> | undefined;
  #isNew = false;
  #uses = 0;
  /** A layer is asking for a permission now: what is sent to the client comes from the layer, not from the child. */
  isAsking = false;

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
    this.#isNew = true;
    return new MetaMcpError("forbidden", "The call has the permission and is checked again.");
  }

  /** Whether a permission was added since the last call of this function. */
  takeNew(): boolean {
    const isNew = this.#isNew;
    this.#isNew = false;
    return isNew;
  }

  /** A run that this limit counted has ended. If another run follows, the limit must not count that one too. */
  ended(limit: object): void {
    if (!this.#isNew) return;
    this.#counted ??= new Set();
    this.#counted.add(limit);
  }

  isCounted(limit: object): boolean {
    return this.#counted?.has(limit) ?? false;
  }
}
