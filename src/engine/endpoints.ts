/** The endpoints of an engine: opens them, tells their clients about changes, and closes them. */
import type { LazyFleet } from "../child/lazy-fleet.ts";
import type { Clock } from "../kernel/clock.ts";
import type { ConcurrencyLimiter } from "../kernel/concurrency-limiter.ts";
import type { Events } from "../kernel/events.ts";
import type { IdSource } from "../kernel/replica-ids.ts";
import type { FolderConsent } from "../surface/folder-consent.ts";
import { hearing, LayeredRequests, type SurfaceLayers } from "../surface/layered-requests.ts";
import type { Scope } from "../surface/scope.ts";
import type { Surface } from "../surface/surface.ts";
import { type AroundRequest, WrappedSurface } from "../surface/wrapped-surface.ts";
import { Sessions } from "./endpoint.ts";
import type { Endpoint, EndpointOptions } from "./engine.ts";

export interface EngineEndpointParts {
  /** The scope of endpoints that have none of their own. */
  readonly scope: Scope;
  /** The layers of the config; undefined without layers. */
  readonly layers: SurfaceLayers | undefined;
  /** Asks clients to allow a config that the user has not allowed yet. */
  readonly consent: FolderConsent | undefined;
  readonly fleet: Pick<LazyFleet, "sessionEnded">;
  readonly clock: Clock;
  readonly ids: IdSource;
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
    const { clock, ids, events, fleet, scope: whole, drainMs } = this.#parts;
    const { results, tasks } = whole;
    const { id, team, scope = whole } = options;
    const sessions: Sessions = new Sessions({
      endpoint: id,
      newSurface: this.#newSurface(options),
      limiter: team?.limiter,
      clock,
      ids,
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

  /** The surface of the endpoint inside its layers, inside its limits, inside the consent. */
  #newSurface(options: EndpointOptions): () => Surface {
    const { scope: whole, notify, consent } = this.#parts;
    const { surface: kind, team, scope = whole, layers = this.#parts.layers } = options;
    const outer: readonly AroundRequest[] = [
      ...(consent ? [consent.around(kind.name === "aggregate" || kind.name === "auto")] : []),
      ...(team ? [limited(team.limiter)] : []),
    ];
    const wrap = (surface: Surface): Surface => {
      const inner = layers ? [new LayeredRequests(surface, layers, scope).around] : [];
      return new WrappedSurface(surface, {
        around: [...outer, ...inner],
        introduction: team?.introduction,
        hears: layers && hearing(layers),
      });
    };
    return kind.open(scope, { notify, wrap });
  }

  /** A list may have changed. */
  changed(): void {
    if (this.#parts.notify) for (const sessions of this.#open) void sessions.changed();
  }

  /** The config changed, or the credentials of this account. */
  loadMissingLists(account?: string): void {
    for (const sessions of this.#open) sessions.loadMissingLists(account);
  }

  async close(withinMs?: number): Promise<void> {
    await Promise.all([...this.#open].map((sessions) => sessions.close(withinMs)));
  }
}

/** Counts the requests in flight. */
function limited(limiter: ConcurrencyLimiter): AroundRequest {
  return (request, answer) => limiter.serve(() => answer(request));
}
