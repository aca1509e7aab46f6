/**
 * Finds the servers that may have a resource, the most likely first. Not every URI is listed: templates and
 * results lead to others.
 */
import { isPage } from "../../catalog/tool-app.ts";
import type { Asker } from "../../kernel/list-key.ts";
import type { ScopeCatalog } from "../scope.ts";
import { addressed, type ItemTarget } from "./addressed.ts";
import type { MergedLists } from "./merged-list.ts";
import { pageOwner } from "./pages.ts";
import { fitsTemplate, fixedLength, isSkillUri, looksLikePageAddress } from "./uris.ts";

/**
 * The server that the address names, whose page the URI is, or that lists it as a resource or (for
 * completions) as a template.
 */
export function certainTarget(
  scope: ScopeCatalog,
  lists: MergedLists,
  uri: string,
  asker: Asker,
): ItemTarget | undefined {
  const address = addressed(scope, uri, asker);
  if (address) return scope.has(address.server, asker) ? address : undefined;
  if (isPage(uri)) {
    const owner = pageOwner(scope, uri, asker);
    return owner === undefined || owner === false ? undefined : { server: owner, uri };
  }
  const listed = lists.resources.list.get(uri) ?? lists.templates.list.get(uri);
  return listed && { server: listed.server, uri: listed.name };
}

/** Whether it is a page that no server can be asked for. */
export function isNobodys(scope: ScopeCatalog, uri: string, asker: Asker): boolean {
  return isPage(uri) && pageOwner(scope, uri, asker) === false;
}

/**
 * For a URI that no server lists: servers with a matching template first, then all other servers with
 * resources. A page that no tool and no list names is asked only of the one server with a template for it:
 * any other could answer with a page of its own. A skill is asked of none, because its address names its
 * server.
 */
export function likelyTargets(
  scope: ScopeCatalog,
  uri: string,
  asker: Asker,
  isEnd: boolean,
): readonly ItemTarget[] {
  // A subscription can be ended at a server that is hidden by now.
  const servers = [...scope.specs().keys()].filter((server) => isEnd || scope.has(server, asker));
  // An address leads to its server alone, also while that is hidden or gone.
  const address = addressed(scope, uri, asker);
  if (address) return isEnd && servers.includes(address.server) ? [address] : [];
  if (looksLikePageAddress(uri)) return [];
  // A single server decides itself whether it has the resource.
  if (servers.length === 1) return servers.map((server) => ({ server, uri }));
  if (isSkillUri(uri) || isNobodys(scope, uri, asker)) return [];
  const { listings } = scope.view(asker).snapshot;
  const fitting = servers
    .flatMap((server) => listings.get(server)?.templates ?? [])
    .filter((template) => fitsTemplate(template, uri))
    .toSorted((a, b) => fixedLength(b) - fixedLength(a));
  const withTemplate = new Set(fitting.map((template) => template.server));
  const others = servers.filter((server) =>
    listings.get(server)?.about.offers?.split(" ").includes("resources"),
  );
  const all = isPage(uri) ? withTemplate : new Set([...withTemplate, ...others]);
  if (isPage(uri) && all.size > 1) return [];
  return [...all].map((server) => ({ server, uri }));
}
