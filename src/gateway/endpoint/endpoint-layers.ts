/** The layers of one endpoint. Each of its servers has those of gateway, endpoint, namespace and server. */
import type { Handler } from "../../kernel/call.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { CompiledLayers } from "../../middleware/compiled-layers.ts";
import { type LayerSource, ScopeLayers } from "../../surface/scope-layers.ts";
import type { Compiled, CompiledEndpoint } from "../compile.ts";
import { factsOf } from "./facts.ts";
import { type LayerOwner, placedLayers } from "./placed-layers.ts";

export interface LayerParts {
  readonly compiledLayers: CompiledLayers;
  readonly compiled: () => Compiled;
  readonly current: () => CompiledEndpoint;
  readonly clock: Clock;
}

export type EndpointLayers = ScopeLayers<LayerOwner>;

/** `handler` is inside all layers. */
export function endpointLayers(parts: LayerParts, handler: Handler): EndpointLayers {
  const { compiledLayers, compiled, current, clock } = parts;
  let seen: { readonly all: Compiled; readonly endpoint: CompiledEndpoint } | undefined;
  const source: LayerSource<LayerOwner> = {
    version() {
      const all = compiled();
      const endpoint = current();
      // The endpoint is updated shortly after the whole configuration, so both must be compared.
      if (seen?.all !== all || seen.endpoint !== endpoint) seen = { all, endpoint };
      return seen;
    },
    servers: () => current().parts.map(({ part }) => part.server),
    owners(server) {
      const { settings, servers } = compiled();
      const endpoint = current();
      if (server === undefined) return [settings, endpoint.object];
      const placed = endpoint.parts.find(({ part }) => part.server === server);
      return [settings, endpoint.object, placed?.namespace.object, servers.get(server)?.object];
    },
    layers: (owners) => placedLayers(compiledLayers, owners),
    facts: (view, tool) => factsOf(view, tool, compiled()),
  };
  return new ScopeLayers({ source, handler, clock });
}
