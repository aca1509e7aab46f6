/**
 * Finds the server of a resource: the one that was named, that returned the URI before, or that lists it. A
 * URI is never sent to other servers.
 */
import type { CatalogView } from "../catalog/catalog-view.ts";
import { isPage } from "../catalog/tool-app.ts";
import type { Origin, ServerId } from "../kernel/call.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import type { Asker } from "../kernel/list-key.ts";
import { addressed, awaitLinkedServer, type ItemTarget, lists } from "./aggregate/addressed.ts";
import { pageOwner } from "./aggregate/pages.ts";
import { fitsTemplate, isSkillUri } from "./aggregate/uris.ts";
import { requireServer } from "./require-server.ts";
import type { ScopeCatalog, ScopeFacts } from "./scope.ts";
import { someOf } from "./server-names.ts";
import type { ClientRequest } from "./surface.ts";

export interface WantedResource {
  readonly uri: string;
  readonly server: ServerId | undefined;
}

export async function resourceTarget(
  scope: ScopeCatalog & ScopeFacts,
  { uri, server }: WantedResource,
  { origin }: ClientRequest,
): Promise<ItemTarget> {
  const view = scope.view(origin);
  await view.loadCached();
  const address =
    server === undefined ? addressed(scope, uri, origin) : addressAt(scope, uri, server, origin);
  const own = address?.uri ?? uri;
  const from = server ?? address?.server ?? (await serverOf(scope, uri, origin));
  if (from !== undefined) {
    requireServer(scope, from, origin);
    return { server: from, uri: own };
  }
  const servers = withResources(view).filter((one) => scope.has(one, origin));
  const known = servers.length === 0 ? "" : ` These have resources: ${someOf(servers)}.`;
  throw new MetaMcpError(
    "execution_failed",
    `The server of ${uri.slice(0, 200)} is not known: pass it as server.${known}`,
    { details: { uri } },
  );
}

/** With a server given, the URI of a skill may be its own or an address. */
function addressAt(scope: ScopeCatalog, uri: string, server: ServerId, asker: Asker): ItemTarget | undefined {
  const address = addressed(scope, uri, asker);
  if (!address || !isSkillUri(uri)) return address;
  const listing = scope.view(asker).snapshot.listings.get(server);
  return address.server === server && !(listing && lists(listing, uri)) ? address : undefined;
}

/** A link in a result counts less than a tool or a list that names the page. */
async function serverOf(
  scope: ScopeCatalog & ScopeFacts,
  uri: string,
  origin: Origin,
): Promise<ServerId | undefined> {
  const owner = isPage(uri) && scope.specs().size > 1 ? pageOwner(scope, uri, origin) : undefined;
  if (owner !== undefined) return owner === false ? undefined : owner;
  return (await awaitLinkedServer(scope, uri, origin)) ?? onlyServer(scope, uri, origin);
}

/**
 * The only server that lists the URI, else the only one with a template for it. If there is just one server,
 * that one.
 */
function onlyServer(scope: ScopeCatalog, uri: string, asker: Asker): ServerId | undefined {
  const servers = [...scope.specs().keys()].filter((server) => scope.has(server, asker));
  if (servers.length === 1) return servers[0];
  if (isSkillUri(uri)) return undefined;
  const { listings } = scope.view(asker).snapshot;
  const listing = servers.filter((server) =>
    listings.get(server)?.resources?.some((resource) => resource.name === uri),
  );
  const fitting = servers.filter((server) =>
    listings.get(server)?.templates?.some((template) => fitsTemplate(template, uri)),
  );
  const found = listing.length > 0 ? listing : fitting;
  return found.length === 1 ? found[0] : undefined;
}

function withResources({ snapshot }: CatalogView): readonly ServerId[] {
  return [...snapshot.listings].flatMap(([server, { about }]) =>
    about.offers?.split(" ").includes("resources") ? [server] : [],
  );
}
