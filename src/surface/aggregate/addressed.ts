/** The server that an address names. Looks nothing up at servers. */
import type { Listing } from "../../catalog/catalog.ts";
import { skillOf } from "../../catalog/skill.ts";
import { callerOf, type Origin, type ServerId } from "../../kernel/call.ts";
import type { Asker } from "../../kernel/list-key.ts";
import type { ScopeCatalog, ScopeFacts } from "../scope.ts";
import type { ListName } from "../surface.ts";
import { isSkillUri, readAddress } from "./uris.ts";

/** Longest wait for lists that are not known. */
const LIST_WAIT_MS = 3_000;

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

/**
 * The server whose result linked to the URI, unless that is the address of a server. For a skill only if all
 * others are known not to list it: a link must not lead to a server in place of the one whose skill has that
 * URI.
 */
export function linkedServer(
  scope: ScopeCatalog & Pick<ScopeFacts, "results">,
  uri: string,
  origin: Origin,
): ServerId | undefined {
  const server = scope.results.links.serverOf(callerOf(origin), uri);
  if (server === undefined || addressed(scope, uri, origin)) return undefined;
  if (!isSkillUri(uri)) return server;
  const { listings } = scope.view(origin).snapshot;
  const others = [...scope.specs().keys()].filter((one) => one !== server && scope.has(one, origin));
  const isOnlyOne = others.every((one) => {
    const listing = listings.get(one);
    return listing?.skills !== undefined && listing.resources !== undefined && !lists(listing, uri);
  });
  return isOnlyOne ? server : undefined;
}

/** The same, after waiting for the lists that decide about a skill. */
export async function awaitLinkedServer(
  scope: ScopeCatalog & Pick<ScopeFacts, "results">,
  uri: string,
  origin: Origin,
): Promise<ServerId | undefined> {
  if (isSkillUri(uri) && scope.results.links.serverOf(callerOf(origin), uri) !== undefined) {
    const load = (list: ListName) =>
      scope.loader.loadMissing([...scope.specs().keys()], origin, LIST_WAIT_MS, list);
    await Promise.all([load("skills"), load("resources")]);
  }
  return linkedServer(scope, uri, origin);
}

/** Whether the server lists a skill, a file of one, or a resource with this URI of its own. */
export function lists({ skills = [], resources = [] }: Listing, uri: string): boolean {
  return (
    resources.some(({ name }) => name === uri) ||
    skills.some((skill) => skill.name === uri || skillOf(skill).files?.some((file) => file.uri === uri))
  );
}
