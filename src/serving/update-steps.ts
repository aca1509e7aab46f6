/** Tells how a changed server makes its way: stored, its old connection closed, a new one made, views compiled, clients told. */
import type { ConnectionChanged, Events, UpdateStep } from "../kernel/events.ts";

type Step = Omit<UpdateStep, "type" | "at" | "server" | "revision">;

export class UpdateSteps {
  readonly #events: Events;
  /** By server: the revision that is on its way. */
  readonly #onItsWay = new Map<string, number>();

  constructor(events: Events) {
    this.#events = events;
    events.on((event) => {
      if (event.type === "connection" && this.#onItsWay.has(event.server)) this.#follow(event);
    });
  }

  stored(server: string, revision: number): void {
    this.#onItsWay.set(server, revision);
    this.#tell(server, { step: "stored" });
  }

  /** Its views are those of the new server. `told` resolves with how many clients heard of it. */
  compiled(server: string, namespaces: readonly string[], told: Promise<number>): void {
    const revision = this.#onItsWay.get(server);
    if (revision === undefined) return;
    this.#tell(server, { step: "compiled", namespaces });
    void told.then((clients) => {
      // A later change goes its own way.
      if (this.#onItsWay.get(server) !== revision) return;
      this.#tell(server, { step: "told", clients });
      this.#onItsWay.delete(server);
    });
  }

  connected(server: string, toolCount: number): void {
    this.#tell(server, { step: "connected", toolCount });
  }

  failed(server: string, reason: string): void {
    this.#tell(server, { step: "failed", reason });
  }

  #follow({ server, state, pid }: ConnectionChanged): void {
    if (state !== "closed" && state !== "started") return;
    this.#tell(server, { step: state, ...(pid !== undefined && { pid }) });
  }

  #tell(server: string, step: Step): void {
    const revision = this.#onItsWay.get(server);
    if (revision !== undefined)
      this.#events.emit({ type: "update", at: Date.now(), server, revision, ...step });
  }
}
