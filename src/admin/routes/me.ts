/** Routes for the own account, and for the secrets that it stores for servers. */

import { type Account, ROLES } from "../../access/account.ts";
import { actionsOf } from "../../access/may.ts";
import type { Principal } from "../../kernel/principal.ts";
import { VERSION } from "../../kernel/version.ts";
import { pageOf } from "../page.ts";
import { ME, type Me, SECRET, SECRET_VALUE } from "../people-schemas.ts";
import { Problem } from "../problem.ts";
import { type AdminRequest, DRY_RUN, LIST_QUERY, route } from "../route.ts";
import { listOf } from "../schemas.ts";
import { type AdminParts, accountOf, dryRun } from "./parts.ts";
import { shownAccount } from "./users.ts";

const SECRET_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;
const MAX_SECRETS = 200;

export function meRoutes(parts: AdminParts) {
  const secrets = () => parts.access.secrets;
  return [
    route({
      method: "GET",
      path: "/me",
      summary: "Show your account and rights",
      tag: "me",
      action: "me.read",
      answer: ME,
      handle: ({ principal, account }) => ({ body: shownMe(parts, principal, account) }),
    }),
    route({
      method: "GET",
      path: "/me/secrets",
      summary: "List the names of your secrets",
      tag: "me",
      action: "me.secrets",
      query: LIST_QUERY,
      answer: listOf(SECRET),
      handle(request) {
        const all = secrets().namesOf(accountOf(request).uuid);
        const nameOf = ({ name }: { name: string }) => name;
        return { body: pageOf(all, request.query, { keyOf: nameOf, textOf: nameOf }) };
      },
    }),
    route({
      method: "PUT",
      path: "/me/secrets/:name",
      summary:
        "Store a secret for servers that use it in headers or env (user.secret.NAME). Nobody can read it again",
      tag: "me",
      action: "me.secrets",
      query: DRY_RUN,
      body: SECRET_VALUE,
      async handle(request) {
        const { value } = request.body;
        const name = nameIn(request.params);
        const { uuid } = personOf(request);
        const known = secrets().namesOf(uuid);
        const isNew = known.every((one) => one.name !== name);
        if (isNew && known.length >= MAX_SECRETS)
          throw new Problem(409, `an account can have at most ${MAX_SECRETS} secrets: delete one first`);
        if (request.query.dryRun) return dryRun(isNew ? "create" : "update", "secret", name);
        await secrets().put(uuid, name, value);
        request.recordChanges([{ action: isNew ? "create" : "update", object: { kind: "secret", name } }]);
        return {};
      },
    }),
    route({
      method: "DELETE",
      path: "/me/secrets/:name",
      summary: "Delete a secret",
      tag: "me",
      action: "me.secrets",
      query: DRY_RUN,
      async handle(request) {
        const name = nameIn(request.params);
        const { uuid } = personOf(request);
        const known = secrets()
          .namesOf(uuid)
          .some((one) => one.name === name);
        if (known && request.query.dryRun) return dryRun("delete", "secret", name);
        if (!known || !(await secrets().remove(uuid, name)))
          throw new Problem(404, `there is no secret "${name}"`);
        request.recordChanges([{ action: "delete", object: { kind: "secret", name } }]);
        return {};
      },
    }),
  ];
}

export function shownMe(
  { inspector }: Pick<AdminParts, "inspector">,
  principal: Principal,
  account: Account | undefined,
): Me {
  const { kind, id, name = id, groups, key } = principal;
  const role = ROLES.find((one) => principal.roles.includes(one)) ?? "member";
  return {
    // Others have no rights here.
    kind: kind as Me["kind"],
    id,
    name,
    role,
    groups,
    actions: actionsOf(principal),
    ...(key && { key }),
    ...(account && { account: shownAccount(account) }),
    gateway: { url: inspector.url, version: VERSION },
  };
}

/** Refuses API keys: only a person who is logged in may change secrets. */
function personOf(request: AdminRequest): Account {
  if (request.principal.key) throw new Problem(403, "a key cannot change secrets: log in first");
  return accountOf(request);
}

function nameIn({ name }: { readonly name: string }): string {
  if (SECRET_NAME.test(name)) return name;
  throw new Problem(
    422,
    "the name of a secret must have 1 to 128 letters, digits and _, and must not begin with a digit",
  );
}
