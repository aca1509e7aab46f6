/** Names of endpoints and owners, as far as the person may read them. */
import type { User } from "../../api/types.ts";
import { CONFIG, useList } from "../../live/resource.ts";
import { may, me } from "../../session.ts";

export interface EndpointName {
  readonly uuid: string;
  readonly name: string;
}

/** All endpoints, or for members those that they may use. */
export function useEndpointNames(): readonly EndpointName[] {
  const readsAll = may("objects.read");
  const all = useList("/endpoints", readsAll ? {} : undefined, CONFIG);
  const own = useList("/me/endpoints", readsAll ? undefined : {}, CONFIG);
  return (readsAll ? all : own).value.value ?? [];
}

export function useOwners(): readonly User[] {
  const people = useList("/users", may("people") ? {} : undefined, {
    when: (event) => event.type === "admin",
  });
  const self = me.value?.account;
  return people.value.value ?? (self ? [self] : []);
}
