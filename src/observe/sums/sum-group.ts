/** Who called what: the group under which the store sums calls. */
import { createHash } from "node:crypto";
import { OTHER } from "../call-groups.ts";
import type { Named } from "../call-schema.ts";

export interface Caller {
  readonly kind: string;
  readonly id: string;
  readonly name: string;
}

/** Members that do not matter for a sum are missing. Names are those of the time of the call. */
export interface CallPlace {
  readonly endpoint?: Named | undefined;
  readonly namespace?: Named | undefined;
  readonly server?: Named | undefined;
  readonly tool?: string | undefined;
  readonly method?: string | undefined;
  readonly principal?: Caller | undefined;
  readonly key?: { readonly id: string; readonly name: string } | undefined;
  /** The client's own name for itself. */
  readonly client?: string | undefined;
}

/** Callers beyond the number that is counted separately. */
export const OTHER_CALLER: Caller = { kind: OTHER, id: OTHER, name: OTHER };

/** The same in every process, whatever the objects are called at the time. */
export function groupId(place: CallPlace): string {
  const { endpoint, namespace, server, tool, method, principal, key, client } = place;
  const ids = [idOf(endpoint), idOf(namespace), idOf(server), tool, method, principal?.id, key?.id, client];
  return createHash("sha256").update(JSON.stringify(ids)).digest("base64url").slice(0, 22);
}

export function idOf(named: Named | undefined): string | undefined {
  return named && (named.uuid ?? named.name);
}
