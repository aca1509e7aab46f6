/** Routes to list and revoke the grants of OAuth clients: by the account that gave them, and by administrators. */
import type { ClientConsent } from "../../authorization/grants.ts";
import { endpointOf } from "../../authorization/resource.ts";
import { pageOf } from "../page.ts";
import { Problem } from "../problem.ts";
import { type AdminRequest, DRY_RUN, LIST_QUERY, type Route } from "../route.ts";
import { listOf, ref } from "../schemas.ts";
import { type AdminParts, isOn } from "./parts.ts";

export function grantRoutes({ access, grants }: AdminParts): readonly Route[] {
  const self = ({ account }: AdminRequest): string => {
    if (!account) throw new Problem(403, "this is for accounts: log in, or use a key of an account");
    return account.uuid;
  };
  const named = ({ params }: AdminRequest): string => {
    const account = access.accounts.byId(params["uuid"] ?? "");
    if (!account) throw new Problem(404, "there is no such account");
    return account.uuid;
  };
  async function list(account: string, { query }: AdminRequest) {
    const all = await grants.list(account);
    const page = pageOf(all, query, { keyOf: ({ id }) => id, textOf: ({ clientName }) => clientName });
    return { body: { ...page, items: page.items.map(shown) } };
  }
  async function revoke(account: string, { params, query, recordChanges }: AdminRequest) {
    const id = params["grant"] ?? "";
    const known = (await grants.list(account)).find((one) => one.id === id);
    if (!known) throw new Problem(404, "there is no such grant");
    if (isOn(query, "dryRun"))
      return { body: { changes: [{ op: "delete", kind: "grant", name: known.clientName }] } };
    await grants.revoke(account, id);
    recordChanges([{ action: "delete", object: { kind: "grant", uuid: id, name: known.clientName } }]);
    return {};
  }
  return [
    {
      method: "GET",
      path: "/me/grants",
      summary: "List the OAuth clients that you allowed to use endpoints",
      tag: "me",
      action: "me.grants",
      query: LIST_QUERY,
      answer: listOf(ref("Grant")),
      handle: (request) => list(self(request), request),
    },
    {
      method: "DELETE",
      path: "/me/grants/:grant",
      summary: "Revoke the grant of a client. Its tokens and sessions end",
      tag: "me",
      action: "me.grants",
      query: DRY_RUN,
      handle: (request) => revoke(self(request), request),
    },
    {
      method: "GET",
      path: "/users/:uuid/grants",
      summary: "List the OAuth clients that an account allowed",
      tag: "users",
      action: "people",
      query: LIST_QUERY,
      answer: listOf(ref("Grant")),
      handle: (request) => list(named(request), request),
    },
    {
      method: "DELETE",
      path: "/users/:uuid/grants/:grant",
      summary: "Revoke a grant of an account",
      tag: "users",
      action: "people",
      query: DRY_RUN,
      handle: (request) => revoke(named(request), request),
    },
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
