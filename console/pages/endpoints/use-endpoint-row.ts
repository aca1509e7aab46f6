/** Adds data of other lists to an endpoint: names of its namespaces, number of clients, number of calls. */
import type { Endpoint, Usage } from "../../api/types.ts";
import { CONFIG, useList } from "../../live/resource.ts";
import { may } from "../../session.ts";
import type { EndpointRow } from "./endpoint-columns.tsx";

/** The other lists. */
export function useEndpointLists() {
  return {
    namespaces: useList("/namespaces", {}, CONFIG),
    sessions: useList("/sessions", may("sessions") ? {} : undefined, { on: ["session"] }),
  };
}

export function useEndpointRow(usage: Usage | undefined): (endpoint: Endpoint) => EndpointRow {
  const lists = useEndpointLists();
  const namespaces = lists.namespaces.value.value;
  const sessions = lists.sessions.value.value;
  const names = new Map(namespaces?.map(({ uuid, name }) => [uuid, name]));
  const callsByEndpoint = new Map<string | undefined, number>();
  for (const { endpoint, calls } of usage?.flows ?? [])
    callsByEndpoint.set(endpoint?.uuid, (callsByEndpoint.get(endpoint?.uuid) ?? 0) + calls);
  return (endpoint) => ({
    endpoint,
    namespaces: endpoint.namespaces.map((uuid) => names.get(uuid) ?? "…").join(", "),
    sessions: sessions?.filter((session) => session.endpoint.uuid === endpoint.uuid).length ?? 0,
    calls: callsByEndpoint.get(endpoint.uuid) ?? 0,
  });
}
