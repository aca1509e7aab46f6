/** The server that an address names. Looks nothing up at servers. */
import type { Listing } from "../../catalog/catalog.ts";
import { skillOf } from "../../catalog/skill.ts";
import type { ServerId } from "../../kernel/call.ts";
import type { Asker } from "../../kernel/list-key.ts";
import type { ScopeCatalog } from "../scope.ts";
import { isSkillUri, readAddress } from "./uris.ts";

export interface ItemTarget {
  readonly server: ServerId;
  /** The URI as the server knows it. */
  readonly uri: string;
}

/**
 * Undefined if the URI is no address. A URI of a skill has the form of an address, so it is one only if it
 * names a configured server, whether this client sees that server or not: no other server can take its place.
 */
export function addressed(scope: ScopeCatalog, uri: string, asker: Asker): ItemTarget | undefined {
  const address = readAddress(uri);
  if (!address || !isSkillUri(uri)) return address;
  if (!scope.specs().has(address.server)) return undefined;
  const listing = scope.view(asker).snapshot.listings.get(address.server);
  // The server may begin its own URIs with its name, and mention them in its texts.
  const isOwn = listing && !lists(listing, address.uri) && lists(listing, uri);
  return isOwn ? { ...address, uri } : address;
}

/** Whether the server lists a skill, a file of one, or a resource with this URI of its own. */
export function lists({ skills = [], resources = [] }: Listing, uri: string): boolean {
  return (
    resources.some(({ name }) => name === uri) ||
    skills.some((skill) => skill.name === uri || skillOf(skill).files?.some((file) => file.uri === uri))
  );
}
