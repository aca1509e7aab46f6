/** Puts servers where clients see them: into a namespace, and where there is no endpoint yet behind one. */
import { send } from "../../api/client.ts";
import type { Endpoint, Namespace } from "../../api/types.ts";

const DEFAULT = "default";

/** "new": the namespace and endpoint `default`, made as far as they are missing. */
export type Place = "none" | "new" | { readonly namespace: string };

interface There {
  readonly namespaces: readonly Namespace[];
  readonly endpoints: readonly Endpoint[];
}

/** Where somebody would expect it: a namespace that an endpoint offers, else a new one. */
export function usualPlace({ namespaces, endpoints }: There): Place {
  const offered = endpoints.flatMap((endpoint) => endpoint.namespaces);
  const first = namespaces.find(({ uuid }) => offered.includes(uuid));
  return first ? { namespace: first.uuid } : "new";
}

/** `servers`: names or uuids. Those that are there already stay as they are. */
export async function join(servers: readonly string[], place: Place, there: There): Promise<void> {
  if (place === "none" || servers.length === 0) return;
  if (place === "new") {
    const namespace = there.namespaces.find(({ name }) => name === DEFAULT);
    if (namespace) await addTo(namespace, servers);
    else await send("POST /namespaces", { name: DEFAULT, servers: servers.map((server) => ({ server })) });
    const endpoint = there.endpoints.find(({ name }) => name === DEFAULT);
    if (!endpoint) await send("POST /endpoints", { name: DEFAULT, namespaces: [DEFAULT] });
    else if (namespace && !endpoint.namespaces.includes(namespace.uuid))
      await send(
        "PATCH /endpoints/:uuid",
        { namespaces: [...endpoint.namespaces, namespace.uuid] },
        { params: { uuid: endpoint.uuid }, revision: endpoint.revision },
      );
    return;
  }
  const namespace = there.namespaces.find(({ uuid }) => uuid === place.namespace);
  if (namespace) await addTo(namespace, servers);
}

async function addTo(
  { uuid, revision, servers: there }: Namespace,
  servers: readonly string[],
): Promise<void> {
  const known = new Set(there.map(({ server }) => server));
  const added = servers.filter((server) => !known.has(server)).map((server) => ({ server }));
  if (added.length === 0) return;
  await send("PATCH /namespaces/:uuid", { servers: [...there, ...added] }, { params: { uuid }, revision });
}
