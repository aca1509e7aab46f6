/**
 * Opens links to servers that may run only once in a gateway with several replicas: to the server itself at
 * the replica that has it, through that replica at the others.
 */
import { idOf } from "../../config/identity.ts";
import type { ServerSpec } from "../../config/spec.ts";
import type { HttpLinkOptions } from "../http/http-channel.ts";
import { ChildFailure, type Connector, type Link, type LinkEvents } from "../link.ts";
import { openHere } from "./local-link.ts";
import type { Place, Placement } from "./placement.ts";
import { RemoteLink } from "./remote-link.ts";

export interface PlacedConnectorParts extends HttpLinkOptions {
  readonly placement: Placement;
  /** The connector for the server itself. */
  readonly connector: (spec: ServerSpec) => Promise<Connector>;
}

export function createPlacedConnector(parts: PlacedConnectorParts): Connector {
  return {
    async open(spec: ServerSpec, events: LinkEvents, signal: AbortSignal): Promise<Link> {
      const place = await find(parts.placement, spec, signal);
      if (place.at === "nowhere") throw new ChildFailure("offline", place.reason, { unsent: true });
      if (place.at === "replica") return new RemoteLink(spec, events, place, parts);
      return await openHere(await parts.connector(spec), { spec, events, place, signal });
    },
  };
}

async function find(placement: Placement, spec: ServerSpec, signal: AbortSignal): Promise<Place> {
  try {
    return await placement.find(idOf(spec), signal);
  } catch (error) {
    if (!signal.aborted || error instanceof ChildFailure) throw error;
    throw new ChildFailure("other", "connecting was cancelled", { unsent: true });
  }
}
