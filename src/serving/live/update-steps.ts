/**
 * Emits an event for each step of a server change: stored, old connection closed, reconnected, views
 * compiled, clients notified.
 */
import type { ConnectionChanged, Events, UpdateStep } from "../../kernel/events.ts";

type Step = Omit<UpdateStep, "type" | "at" | "server" | "revision">;

export class UpdateSteps {
  readonly #events: Events;
  /** By server: the revision whose steps are not complete. */
  readonly #pending = new Map<string, number>();

  constructor(events: Events) {
    this.#events = events;
    events.on((event) => {
      if (event.type === "connection" && this.#pending.has(event.server)) this.#follow(event);
    });
  }

  stored(server: string, revision: number): void {
    this.#pending.set(server, revision);
    this.#emit(server, { step: "stored" });
  }

  /** The views of the server are compiled. `told` resolves with the number of notified clients. */
  compiled(server: string, namespaces: readonly string[], told: Promise<number>): void {
    const revision = this.#pending.get(server);
    if (revision === undefined) return;
    this.#emit(server, { step: "compiled", namespaces });
    void told.then((clients) => {
      // A later change emits its own steps.
      if (this.#pending.get(server) !== revision) return;
      this.#emit(server, { step: "told", clients });
      this.#pending.delete(server);
    });
  }

  connected(server: string, toolCount: number): void {
    this.#emit(server, { step: "connected", toolCount });
  }

  failed(server: string, reason: string): void {
    this.#emit(server, { step: "failed", reason });
  }

  #follow({ server, state, pid }: ConnectionChanged): void {
    if (state !== "closed" && state !== "started") return;
    this.#emit(server, { step: state, ...(pid !== undefined && { pid }) });
  }

  #emit(server: string, step: Step): void {
    const revision = this.#pending.get(server);
    if (revision !== undefined)
      this.#events.emit({ type: "update", at: Date.now(), server, revision, ...step });
  }
}
