/** Which servers are being connected anew after a change, and which could not be. */
import type { Reachability } from "../gateway/endpoint/endpoint-view.ts";

export class ServerReach implements Reachability {
  readonly #changing = new Map<string, symbol>();
  readonly #faults = new Map<string, string>();
  #version = 0;

  get version(): number {
    return this.#version;
  }

  fault(server: string): string | undefined {
    return this.#faults.get(server);
  }

  changing(server: string): boolean {
    return this.#changing.has(server);
  }

  /** Returns how to say how it ended. What a later change began is not ended by it. */
  begin(server: string): (fault: string | undefined) => boolean {
    const turn = Symbol(server);
    this.#changing.set(server, turn);
    this.#faults.delete(server);
    this.#version += 1;
    return (fault) => {
      if (this.#changing.get(server) !== turn) return false;
      this.#changing.delete(server);
      if (fault !== undefined) this.#faults.set(server, fault);
      this.#version += 1;
      return true;
    };
  }

  /** It is connected, whoever did it. True where that is news. */
  recovered(server: string): boolean {
    const news = this.#faults.delete(server);
    if (news) this.#version += 1;
    return news;
  }

  forget(server: string): void {
    this.#changing.delete(server);
    this.#faults.delete(server);
    this.#version += 1;
  }
}
