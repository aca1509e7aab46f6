/** Which servers are reconnecting after a change, and which could not be reconnected. */
import type { Reachability } from "../../gateway/endpoint/endpoint-view.ts";

export class ServerReachability implements Reachability {
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

  /**
   * Marks the server as reconnecting. The returned function ends that, and returns false if a later change
   * has started another attempt.
   */
  begin(server: string): (fault: string | undefined) => boolean {
    const attempt = Symbol(server);
    this.#changing.set(server, attempt);
    this.#faults.delete(server);
    this.#version += 1;
    return (fault) => {
      if (this.#changing.get(server) !== attempt) return false;
      this.#changing.delete(server);
      if (fault !== undefined) this.#faults.set(server, fault);
      this.#version += 1;
      return true;
    };
  }

  /** The server is connected. Returns true if it had failed before. */
  recovered(server: string): boolean {
    const hadFailed = this.#faults.delete(server);
    if (hadFailed) this.#version += 1;
    return hadFailed;
  }

  forget(server: string): void {
    this.#changing.delete(server);
    this.#faults.delete(server);
    this.#version += 1;
  }
}
