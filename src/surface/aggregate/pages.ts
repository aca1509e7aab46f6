/**
 * Pages of MCP Apps. A page belongs to the server whose tool names it: definitions and results name an
 * address of that server, so that neither a server that comes later nor one with the same URI can take its
 * place.
 */
import { namesPage } from "../../catalog/snapshot.ts";
import type { Tool } from "../../catalog/tool.ts";
import { pageOf, withPage } from "../../catalog/tool-app.ts";
import type { ServerId } from "../../kernel/call.ts";
import type { Asker } from "../../kernel/list-key.ts";
import type { Raw } from "../../kernel/raw.ts";
import type { ScopeCatalog } from "../scope.ts";
import type { PrefixedItems } from "./public-names.ts";
import { addressOf, looksLikePageAddress } from "./uris.ts";

/** Parts and tools without a page stay the same objects. */
export function withOwnPages(parts: readonly PrefixedItems<Tool>[]): readonly PrefixedItems<Tool>[] {
  return parts.map((part) => {
    if (!part.items.some(({ definition }) => pageOf(definition))) return part;
    const items = part.items.map((tool) => {
      const definition = withOwnPage(tool.definition, tool.server);
      return definition === tool.definition ? tool : { ...tool, definition };
    });
    return { ...part, items };
  });
}

/** A definition or result of this server, with the address under which clients read its page. */
export function withOwnPage(described: Raw, server: ServerId): Raw {
  const uri = pageOf(described);
  return uri === undefined ? described : withPage(described, addressOf(server, uri));
}

/**
 * Whose page a URI is that is no address, as apps know those of their server: the one server whose tool names
 * it, else the one that lists it. False: nobody's, because several do, or a server whose tools are not known
 * might. Undefined: no tool and no list names it.
 */
export function pageOwner(scope: ScopeCatalog, uri: string, asker: Asker): ServerId | false | undefined {
  if (looksLikePageAddress(uri)) return false;
  const { listings } = scope.view(asker).snapshot;
  const servers = [...scope.specs().keys()].filter((server) => scope.has(server, asker));
  // A tool that is hidden from this client names its page all the same.
  const naming = servers.filter((server) => {
    const listing = listings.get(server);
    return listing !== undefined && namesPage(listing, uri);
  });
  if (naming.length > 0) return only(naming);
  if (!servers.every((server) => listings.has(server))) return false;
  const listing = servers.filter((server) =>
    listings.get(server)?.resources?.some((resource) => resource.name === uri),
  );
  return listing.length > 0 ? only(listing) : undefined;
}

const only = ([first, ...others]: readonly ServerId[]): ServerId | false =>
  first !== undefined && others.length === 0 && first;
