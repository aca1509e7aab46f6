/** How many run at the same time, in the memory of this process. */
import type { Places } from "./counts.ts";

export class LocalPlaces implements Places {
  readonly #most: () => number | undefined;
  #running = 0;

  constructor(most: () => number | undefined) {
    this.#most = most;
  }

  full(more = 1): boolean {
    const most = this.#most();
    return most !== undefined && this.#running + more > most;
  }

  enter(): void {
    this.#running += 1;
  }

  leave(): void {
    this.#running -= 1;
  }
}
