/**
 * Finds the servers that may have a resource, the most likely first. Not every URI is listed: templates and
 * results lead to others.
 */
import type { ServerId } from "../../kernel/call.ts";
import type { Asker } from "../../kernel/list-key.ts";
import type { ScopeCatalog } from "../scope.ts";
import type { MergedLists } from "./merged-list.ts";
import { fitsTemplate, fixedLength, readAddress } from "./uris.ts";

export interface ItemTarget {
  readonly server: ServerId;
  /** The URI as the server knows it. */
  readonly uri: string;
}

/**
 * The server that lists the URI as a resource or (for completions) as a template, or the one that the address
 * names.
 */
export function certainTarget(scope: ScopeCatalog, lists: MergedLists, uri: string): ItemTarget | undefined {
  const listed = lists.resources.list.get(uri) ?? lists.templates.list.get(uri);
  if (listed) return { server: listed.server, uri: listed.name };
  const addressed = readAddress(uri);
  return addressed && scope.specs().has(addressed.server) ? addressed : undefined;
}

/**
 * For a URI that no server lists: servers with a matching template first, then all other servers with
 * resources.
 */
export function likelyTargets(scope: ScopeCatalog, uri: string, asker: Asker): readonly ItemTarget[] {
  const servers = [...scope.specs().keys()];
  // A single server decides itself whether it has the resource.
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
