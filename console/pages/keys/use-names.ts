/** Names of what keys are about, as far as the role may read them. */
import type { User } from "../../api/types.ts";
import { CONFIG, useList } from "../../live/resource.ts";
import { may, me } from "../../session.ts";

export interface EndpointName {
  readonly uuid: string;
  readonly name: string;
}

/** All endpoints, or those that a member may use. */
export function useEndpointNames(): readonly EndpointName[] {
  const reads = may("objects.read");
  const all = useList("/endpoints", reads ? {} : undefined, CONFIG);
  const own = useList("/me/endpoints", reads ? undefined : {}, CONFIG);
  return (reads ? all : own).value.value ?? [];
}

export function useOwners(): readonly User[] {
  const people = useList("/users", may("people") ? {} : undefined, {
    when: (event) => event.type === "admin",
  });
  const self = me.value?.account;
  return people.value.value ?? (self ? [self] : []);
}
