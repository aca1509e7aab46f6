/**
 * Adds servers to a namespace so that clients see them. Creates the namespace and endpoint `default` if
 * requested.
 */
import { send } from "../../api/client.ts";
import type { Endpoint, Namespace } from "../../api/types.ts";

export const DEFAULT_NAME = "default";

/** "new": the namespace and endpoint `default`, created if missing. */
export type NamespaceChoice = "none" | "new" | { readonly namespace: string };

interface Existing {
  readonly namespaces: readonly Namespace[];
  readonly endpoints: readonly Endpoint[];
}

/** Returns the first namespace that an endpoint offers, or else "new". */
export function defaultChoice({ namespaces, endpoints }: Existing): NamespaceChoice {
  const offered = endpoints.flatMap((endpoint) => endpoint.namespaces);
  const first = namespaces.find(({ uuid }) => offered.includes(uuid));
  return first ? { namespace: first.uuid } : "new";
}

/** `servers` are names or uuids. Servers that are already in the namespace stay unchanged. */
export async function addToNamespace(
  servers: readonly string[],
  choice: NamespaceChoice,
  existing: Existing,
): Promise<void> {
  if (choice === "none" || servers.length === 0) return;
  if (choice === "new") {
    const namespace = existing.namespaces.find(({ name }) => name === DEFAULT_NAME);
    if (namespace) await appendServers(namespace, servers);
    else
      await send("POST /namespaces", { name: DEFAULT_NAME, servers: servers.map((server) => ({ server })) });
    const endpoint = existing.endpoints.find(({ name }) => name === DEFAULT_NAME);
    if (!endpoint) await send("POST /endpoints", { name: DEFAULT_NAME, namespaces: [DEFAULT_NAME] });
    else if (namespace && !endpoint.namespaces.includes(namespace.uuid))
      await send(
        "PATCH /endpoints/:uuid",
        { namespaces: [...endpoint.namespaces, namespace.uuid] },
        { params: { uuid: endpoint.uuid }, revision: endpoint.revision },
      );
    return;
  }
  const namespace = existing.namespaces.find(({ uuid }) => uuid === choice.namespace);
  if (namespace) await appendServers(namespace, servers);
}

async function appendServers(
  { uuid, revision, servers: existing }: Namespace,
  servers: readonly string[],
): Promise<void> {
  const known = new Set(existing.map(({ server }) => server));
  const added = servers.filter((server) => !known.has(server)).map((server) => ({ server }));
  if (added.length === 0) return;
  await send("PATCH /namespaces/:uuid", { servers: [...existing, ...added] }, { params: { uuid }, revision });
}
