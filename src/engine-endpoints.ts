/** The endpoints of an engine: opens them, tells their clients about changes, and closes them. */
import type { Fleet } from "./child/fleet.ts";
import type { Endpoint, EndpointOptions } from "./engine.ts";
import type { Clock } from "./kernel/clock.ts";
import type { Events } from "./kernel/events.ts";
import { Sessions } from "./sessions.ts";
import { chooseSurface, type SurfaceName } from "./surface/choose.ts";
import { EndpointSurface } from "./surface/endpoint-surface.ts";
import type { FolderConsent } from "./surface/folder-consent.ts";
import type { Scope } from "./surface/scope.ts";
import type { Surface } from "./surface/surface.ts";

export interface EngineEndpointParts {
  /** The scope of endpoints that have none of their own. */
  readonly scope: Scope;
  /** Puts the layers of the config around a surface; undefined without layers. */
  readonly layered: ((surface: Surface) => Surface) | undefined;
  /** Asks clients to allow a config that the user has not allowed yet. */
  readonly consent: FolderConsent | undefined;
  readonly fleet: Pick<Fleet, "sessionEnded">;
  readonly clock: Clock;
  readonly events: Events;
  /** Whether clients are told when a list changes. */
  readonly notify: boolean;
  /** The time for running calls when the process stops. */
  readonly drainMs?: number | undefined;
}

export class EngineEndpoints {
  readonly #parts: EngineEndpointParts;
  readonly #open = new Set<Sessions>();

  constructor(parts: EngineEndpointParts) {
    this.#parts = parts;
  }

  open(options: EndpointOptions): Endpoint {
    const { clock, events, fleet, scope: whole, drainMs } = this.#parts;
    const { results, tasks } = whole;
    const { id, team, scope = whole } = options;
    const sessions: Sessions = new Sessions({
      endpoint: id,
      newSurface: this.#newSurface(options),
      limiter: team?.limiter,
      clock,
      drainMs,
      events,
      down: () =>
        scope
          .servers()
          .filter(({ state }) => state === "failed")
          .map(({ name, reason }) => ({ server: name, reason })),
      onEnded: (session) => fleet.sessionEnded(session),
      onLeft(session) {
        results.forget(session);
        tasks.forget(session);
        fleet.sessionEnded(session);
      },
      onClosed: () => this.#open.delete(sessions),
    });
    this.#open.add(sessions);
    return sessions;
  }

  /** The surface of the endpoint, inside its layers, inside the endpoint's own texts and limits, inside the consent. */
  #newSurface(options: EndpointOptions): () => Surface {
    const { scope: whole, layered, notify } = this.#parts;
    const { surface, team, scope = whole, wrapSurface = layered } = options;
    const choose = chooseSurface(scope, { surface, notify });
    const inLayers = wrapSurface ? () => wrapSurface(choose()) : choose;
    const ofTeam = team ? () => new EndpointSurface(inLayers(), team) : inLayers;
    return this.#withConsent(ofTeam, surface);
  }

  #withConsent(newSurface: () => Surface, name: SurfaceName): () => Surface {
    const { consent } = this.#parts;
    return consent ? () => consent.around(newSurface(), name === "aggregate" || name === "auto") : newSurface;
  }

  /** A list may have changed. */
  changed(): void {
    if (this.#parts.notify) for (const sessions of this.#open) void sessions.changed();
  }

  /** The config changed, or the credentials of this account. */
  loadMissingLists(account?: string): void {
    for (const sessions of this.#open) sessions.loadMissingLists(account);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open].map((sessions) => sessions.close()));
  }
}
