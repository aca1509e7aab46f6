/** Routes to invite, change and delete accounts. They never return credentials. */

import type { Account } from "../../access/account.ts";
import { pageOf } from "../page.ts";
import { INVITATION, NEW_USER, USER, USER_INVITED, USER_PATCH, type User } from "../people-schemas.ts";
import { Problem } from "../problem.ts";
import { type AtObject, DRY_RUN, LIST_QUERY, route } from "../route.ts";
import { listOf } from "../schemas.ts";
import { type AdminParts, dryRun } from "./parts.ts";

export function userRoutes(parts: AdminParts) {
  const { access } = parts;
  return [
    route({
      method: "GET",
      path: "/users",
      summary: "List the accounts",
      tag: "users",
      action: "people",
      query: LIST_QUERY,
      answer: listOf(USER),
      handle({ query }) {
        const all = [...access.accounts.all].map(shownAccount);
        const textOf = ({ email, groups }: (typeof all)[number]) => [email, ...groups].join("\n");
        return { body: pageOf(all, query, { keyOf: ({ uuid }) => uuid, textOf }) };
      },
    }),
    route({
      method: "POST",
      path: "/users",
      summary: "Invite a person. The link works once, for 7 days",
      tag: "users",
      action: "people",
      query: DRY_RUN,
      body: NEW_USER,
      status: 201,
      answer: USER_INVITED,
      async handle({ body, query }) {
        if (query.dryRun) return dryRun("create", "user", body.email);
        const account = await access.accounts.create(body);
        return { status: 201, body: { ...shownAccount(account), invitation: await invite(parts, account) } };
      },
    }),
    route({
      method: "GET",
      path: "/users/:uuid",
      summary: "Read one account",
      tag: "users",
      action: "people",
      answer: USER,
      handle: (request) => ({ body: shownAccount(accountAt(parts, request)) }),
    }),
    route({
      method: "PATCH",
      path: "/users/:uuid",
      summary: "Change an account. Disabling it ends its sessions, keys and logins",
      tag: "users",
      action: "people",
      query: DRY_RUN,
      body: USER_PATCH,
      answer: USER,
      async handle(request) {
        const { body, query } = request;
        const account = accountAt(parts, request);
        if (account.identity && body.email !== undefined && body.email !== account.email)
          throw new Problem(409, "the address of this account comes from its identity provider");
        if (query.dryRun) return dryRun("update", "user", account.email);
        const changed = await access.accounts.change(account.uuid, body);
        if (changed.disabled) await access.sessions.endOf(changed.uuid);
        return { body: shownAccount(changed) };
      },
    }),
    route({
      method: "DELETE",
      path: "/users/:uuid",
      summary: "Delete an account with its keys, logins and secrets",
      tag: "users",
      action: "people",
      query: DRY_RUN,
      async handle(request) {
        const account = accountAt(parts, request);
        if (request.query.dryRun) return dryRun("delete", "user", account.email);
        await access.removeAccount(account);
        return {};
      },
    }),
    route({
      method: "POST",
      path: "/users/:uuid/invitation",
      summary: "Create a new link to choose a password; the previous link stops working",
      tag: "users",
      action: "people",
      answer: INVITATION,
      async handle(request) {
        const account = accountAt(parts, request);
        if (account.identity)
          throw new Problem(409, "this account logs in elsewhere and has no password here");
        return { body: await invite(parts, account) };
      },
    }),
  ];
}

export function shownAccount(stored: Account): User {
  const { password, emailVerified: _, ...account } = stored;
  const invited = password === undefined && !account.identity;
  return { ...account, ...(invited && { invited }) };
}

async function invite({ access, publicUrl }: AdminParts, account: Account) {
  const { code, expiresAt } = await access.invitations.create(account);
  return { url: `${publicUrl()}/invitations/${code}`, expiresAt };
}

/** Finds the account in the path by uuid or e-mail address. */
export function accountAt({ access: { accounts } }: AdminParts, { params }: AtObject): Account {
  const reference = params.uuid;
  const found = accounts.byId(reference) ?? accounts.byEmail(reference);
  if (!found) throw new Problem(404, `there is no account "${reference.slice(0, 64)}"`);
  return found;
}
