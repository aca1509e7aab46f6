/** Which servers may have a resource, best guess first. URIs are not listed one by one everywhere: templates and results lead to others. */
import type { ServerId } from "../../kernel/call.ts";
import type { Asker } from "../../kernel/list-key.ts";
import type { Scope } from "../scope.ts";
import type { Shelves } from "./merged-list.ts";
import { fitsTemplate, fixedLength, readAddress } from "./uris.ts";

export interface ItemTarget {
  readonly server: ServerId;
  /** As that server knows it. */
  readonly uri: string;
}

/** The one server that lists it, as a resource or (for completions) as a template, or that it is addressed to. */
export function certainTarget(scope: Scope, shelves: Shelves, uri: string): ItemTarget | undefined {
  const listed = shelves.resources.list.get(uri) ?? shelves.templates.list.get(uri);
  if (listed) return { server: listed.server, uri: listed.name };
  const addressed = readAddress(uri);
  return addressed && scope.specs().has(addressed.server) ? addressed : undefined;
}

/** Where nobody lists it: who has a template for it, then whoever has resources at all. */
export function likelyTargets(scope: Scope, uri: string, asker: Asker): readonly ItemTarget[] {
  const servers = [...scope.specs().keys()];
  // Whatever it is, one server alone decides.
  if (servers.length === 1) return servers.map((server) => ({ server, uri }));
  const { listings } = scope.view(asker).snapshot;
  const fitting = servers
    .flatMap((server) => listings.get(server)?.templates ?? [])
    .filter((template) => fitsTemplate(template, uri))
    .toSorted((a, b) => fixedLength(b) - fixedLength(a));
  const others = servers.filter((server) =>
    listings.get(server)?.about.offers?.split(" ").includes("resources"),
  );
  const all = new Set([...fitting.map((template) => template.server), ...others]);
  return [...all].map((server) => ({ server, uri }));
}
