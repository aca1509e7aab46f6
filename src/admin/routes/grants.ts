/**
 * Routes to list and revoke the grants of OAuth clients: by the account that gave them, and by
 * administrators.
 */

import type { ClientConsent } from "../../authorization/grants.ts";
import { endpointOf } from "../../authorization/resource.ts";
import { pageOf } from "../page.ts";
import { GRANT } from "../people-schemas.ts";
import { Problem } from "../problem.ts";
import {
  type AdminRequest,
  type AtObject,
  DRY_RUN,
  LIST_QUERY,
  type ListQuery,
  type QueryOf,
  route,
} from "../route.ts";
import { listOf } from "../schemas.ts";
import { type AdminParts, accountOf, dryRun } from "./parts.ts";

type Revoking = AdminRequest<QueryOf<typeof DRY_RUN>, unknown, { readonly grant: string }>;

export function grantRoutes({ access, grants }: AdminParts) {
  const named = ({ params }: AtObject): string => {
    const account = access.accounts.byId(params.uuid);
    if (!account) throw new Problem(404, "there is no such account");
    return account.uuid;
  };
  async function list(account: string, { query }: AdminRequest<ListQuery>) {
    const all = await grants.list(account);
    const page = pageOf(all, query, { keyOf: ({ id }) => id, textOf: ({ clientName }) => clientName });
    return { body: { ...page, items: page.items.map(shown) } };
  }
  async function revoke(account: string, { params, query, recordChanges }: Revoking) {
    const id = params.grant;
    const known = (await grants.list(account)).find((one) => one.id === id);
    if (!known) throw new Problem(404, "there is no such grant");
    if (query.dryRun) return dryRun("delete", "grant", known.clientName);
    await grants.revoke(account, id);
    recordChanges([{ action: "delete", object: { kind: "grant", uuid: id, name: known.clientName } }]);
    return {};
  }
  return [
    route({
      method: "GET",
      path: "/me/grants",
      summary: "List the OAuth clients that you allowed to use endpoints",
      tag: "me",
      action: "me.grants",
      query: LIST_QUERY,
      answer: listOf(GRANT),
      handle: (request) => list(accountOf(request).uuid, request),
    }),
    route({
      method: "DELETE",
      path: "/me/grants/:grant",
      summary: "Revoke the grant of a client. Its tokens and sessions end",
      tag: "me",
      action: "me.grants",
      query: DRY_RUN,
      handle: (request) => revoke(accountOf(request).uuid, request),
    }),
    route({
      method: "GET",
      path: "/users/:uuid/grants",
      summary: "List the OAuth clients that an account allowed",
      tag: "users",
      action: "people",
      query: LIST_QUERY,
      answer: listOf(GRANT),
      handle: (request) => list(named(request), request),
    }),
    route({
      method: "DELETE",
      path: "/users/:uuid/grants/:grant",
      summary: "Revoke a grant of an account",
      tag: "users",
      action: "people",
      query: DRY_RUN,
      handle: (request) => revoke(named(request), request),
    }),
  ];
}

function shown({
  id,
  client,
  clientName,
  resource,
  redirectHost,
  createdAt,
  lastUsedAt,
}: ClientConsent & { id: string }) {
  return {
    id,
    client: { id: client, name: clientName },
    endpoint: endpointOf(resource),
    resource,
    redirectHost,
    createdAt,
    lastUsedAt,
  };
}
