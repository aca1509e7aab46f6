/**
 * Pages of MCP Apps in one list of tools. A page belongs to the server whose tool names it. Of several servers
 * that name the same URI, the first keeps it; tools of the others name an address, so that each has its own
 * page.
 */
import type { Tool } from "../../catalog/tool.ts";
import { pageOf, withPage } from "../../catalog/tool-app.ts";
import type { ServerId } from "../../kernel/call.ts";
import type { Raw } from "../../kernel/raw.ts";
import type { PrefixedItems } from "./public-names.ts";
import { addressOf, isReserved } from "./uris.ts";

/** Servers by the URIs that belong to them. */
export type PageOwners = ReadonlyMap<string, ServerId>;

const NO_PAGES: PageOwners = new Map();

/** The same empty object for all lists without pages. */
export function pageOwners(tools: Iterable<Pick<Tool, "server" | "definition">>): PageOwners {
  const owners = new Map<string, ServerId>();
  for (const { server, definition } of tools) {
    const uri = pageOf(definition);
    if (uri !== undefined && !isReserved(uri) && !owners.has(uri)) owners.set(uri, server);
  }
  return owners.size === 0 ? NO_PAGES : owners;
}

/** The parts with definitions that name the right pages. A part without a change stays the same object. */
export function withOwnPages(parts: readonly PrefixedItems<Tool>[]): readonly PrefixedItems<Tool>[] {
  const owners = pageOwners(parts.flatMap(({ items }) => items));
  if (owners.size === 0 && !parts.some(({ items }) => items.some(({ definition }) => pageOf(definition))))
    return parts;
  return parts.map((part) => ({
    ...part,
    items: part.items.map((tool) => {
      const definition = withOwnPage(tool.definition, tool.server, owners);
      return definition === tool.definition ? tool : { ...tool, definition };
    }),
  }));
}

/** A definition or result of this server, with the URI under which clients read its page. */
export function withOwnPage(described: Raw, server: ServerId, owners: PageOwners): Raw {
  const uri = pageOf(described);
  if (uri === undefined || (!isReserved(uri) && (owners.get(uri) ?? server) === server)) return described;
  return withPage(described, addressOf(server, uri));
}
