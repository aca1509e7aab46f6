/**
 * Serves servers that run here to other replicas, each as an endpoint of its own. Another replica is a client
 * with a session per connection, so nobody shares more than within one process.
 */
import { randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { PLACED_CREDENTIAL } from "../child/placed/placement.ts";
import type { ServerId } from "../kernel/call.ts";
import type { Clock } from "../kernel/clock.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import { Events } from "../kernel/events.ts";
import type { Principal } from "../kernel/principal.ts";
import { StreamableEndpoint } from "../transport/http/streamable-endpoint.ts";
import { Sessions } from "./endpoint.ts";
import { PlacedSurface, type PlacedSurfaceParts } from "./placed-surface.ts";

/** A replica that left its session comes back with a new one. */
const SESSION_TIMEOUT_MS = 30 * 60_000;
const HEARTBEAT_MS = 15_000;
const GONE = new MetaMcpError("cancelled", "the replica is gone");

export interface PlacedServersParts extends PlacedSurfaceParts {
  readonly clock: Clock;
}

export class PlacedServers {
  readonly #parts: PlacedServersParts;
  readonly #endpoints = new Map<ServerId, StreamableEndpoint>();

  constructor(parts: PlacedServersParts) {
    this.#parts = parts;
  }

  /** Takes a request of another replica, which is authenticated. */
  handle(
    server: ServerId,
    from: string,
    received: { request: IncomingMessage; response: ServerResponse },
  ): void {
    const credential = received.request.headers[PLACED_CREDENTIAL];
    const principal = principalOf(from, typeof credential === "string" ? credential : undefined);
    this.#at(server).handle({ ...received, principal });
  }

  /** Ends what a replica began that is gone. */
  gone(replica: string): void {
    for (const endpoint of this.#endpoints.values())
      endpoint.endOf((principal) => principal.name === replica, GONE);
  }

  end(): void {
    for (const endpoint of this.#endpoints.values()) endpoint.end();
  }

  #at(server: ServerId): StreamableEndpoint {
    const known = this.#endpoints.get(server);
    if (known) return known;
    const { clock, fleet } = this.#parts;
    const left = (session: string): void => fleet.sessionEnded(session);
    const host = new Sessions({
      endpoint: "replicas",
      newSurface: () => new PlacedSurface(server, this.#parts),
      clock,
      ids: { secret: randomBytes(32), replica: undefined },
      // Sessions of replicas are no sessions of clients.
      events: new Events(),
      down: () => [],
      onLeft: left,
      onEnded: left,
      onClosed: () => {},
    });
    const endpoint = new StreamableEndpoint(
      {
        clock,
        stateless: false,
        jsonResponse: false,
        sessionTimeoutMs: SESSION_TIMEOUT_MS,
        heartbeatMs: HEARTBEAT_MS,
      },
      host,
    );
    this.#endpoints.set(server, endpoint);
    return endpoint;
  }
}

/**
 * An account whose credential the link uses, or else the replica itself. `name` is the replica in both cases.
 */
function principalOf(from: string, credential: string | undefined): Principal {
  const common = { roles: [], groups: [], name: from };
  if (credential === undefined) return { ...common, id: `replica ${from}`, kind: "local" };
  return { ...common, id: credential.split(".", 1)[0] ?? "", kind: "account" };
}
