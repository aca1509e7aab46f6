/** An API key with the names of its endpoints and of its owner. */
import type { ApiKey, User } from "../../api/types.ts";
import type { CallerUse } from "../../parts/use-callers.ts";
import { keysTexts as texts } from "../../texts/keys.ts";
import { shellTexts } from "../../texts/shell.ts";

export interface KeyRow {
  readonly key: ApiKey;
  readonly access: string;
  /** The endpoints, if there is a list of them. */
  readonly endpoints: Names["endpoints"];
  readonly owner: string;
  readonly expired: boolean;
  /** Of the last seven days; undefined without calls. */
  readonly use: CallerUse | undefined;
}

interface Names {
  readonly endpoints: readonly { readonly uuid: string; readonly name: string }[];
  readonly users: readonly User[];
  readonly now: number;
  readonly uses: ReadonlyMap<string, CallerUse>;
}

export function keyRow(key: ApiKey, { endpoints, users, now, uses }: Names): KeyRow {
  const access = accessOf(key, endpoints);
  const owner = users.find(({ uuid }) => uuid === key.owner)?.email ?? key.owner ?? texts.nobody;
  const expired = key.expiresAt !== undefined && Date.parse(key.expiresAt) <= now;
  return {
    key,
    access: key.machine ? texts.machine.with(access) : access,
    endpoints: Array.isArray(key.endpoints)
      ? endpoints.filter(({ uuid }) => key.endpoints?.includes(uuid))
      : [],
    owner,
    expired,
    use: uses.get(key.uuid),
  };
}

function accessOf({ role, endpoints }: ApiKey, known: Names["endpoints"]): string {
  if (role) return texts.admin(shellTexts.roles[role]);
  if (endpoints === "all" || endpoints === undefined) return texts.allEndpoints;
  return endpoints
    .map((uuid) => known.find((endpoint) => endpoint.uuid === uuid)?.name ?? texts.gone)
    .join(", ");
}
