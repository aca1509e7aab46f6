/** Routes to invite, change and delete accounts. They never return credentials. */
import type { Account } from "../../access/account.ts";
import type { AccountChange, NewAccount } from "../../access/accounts.ts";
import { pageOf } from "../page.ts";
import { NEW_USER, USER_PATCH } from "../people-schemas.ts";
import { Problem } from "../problem.ts";
import { type AdminRequest, DRY_RUN, LIST_QUERY, type Route } from "../route.ts";
import { listOf, ref } from "../schemas.ts";
import { type AdminParts, checkedBody, isOn } from "./parts.ts";

export function userRoutes(parts: AdminParts): readonly Route[] {
  const { access } = parts;
  return [
    {
      method: "GET",
      path: "/users",
      summary: "List the accounts",
      tag: "users",
      action: "people",
      query: LIST_QUERY,
      answer: listOf(ref("User")),
      handle({ query }) {
        const all = [...access.accounts.all].map(shownAccount);
        const textOf = ({ email, groups }: (typeof all)[number]) => [email, ...groups].join("\n");
        return { body: pageOf(all, query, { keyOf: ({ uuid }) => uuid, textOf }) };
      },
    },
    {
      method: "POST",
      path: "/users",
      summary: "Invite a person. The link works once, for 7 days",
      tag: "users",
      action: "people",
      query: DRY_RUN,
      body: ref("NewUser"),
      status: 201,
      answer: ref("UserInvited"),
      async handle({ body, query }) {
        const sent = await checkedBody<NewAccount>(NEW_USER, body);
        if (isOn(query, "dryRun")) return { status: 200, body: { changes: [row("create", sent.email)] } };
        const account = await access.accounts.create(sent);
        return { status: 201, body: { ...shownAccount(account), invitation: await invite(parts, account) } };
      },
    },
    {
      method: "GET",
      path: "/users/:uuid",
      summary: "Read one account",
      tag: "users",
      action: "people",
      answer: ref("User"),
      handle: (request) => ({ body: shownAccount(accountAt(parts, request)) }),
    },
    {
      method: "PATCH",
      path: "/users/:uuid",
      summary: "Change an account. Disabling it ends its sessions, keys and logins",
      tag: "users",
      action: "people",
      query: DRY_RUN,
      body: ref("UserPatch"),
      answer: ref("User"),
      async handle(request) {
        const change = await checkedBody<AccountChange>(USER_PATCH, request.body);
        const account = accountAt(parts, request);
        if (account.identity && change.email !== undefined && change.email !== account.email)
          throw new Problem(409, "the address of this account comes from its identity provider");
        if (isOn(request.query, "dryRun")) return { body: { changes: [row("update", account.email)] } };
        const changed = await access.accounts.change(account.uuid, change);
        if (changed.disabled) await access.sessions.endOf(changed.uuid);
        return { body: shownAccount(changed) };
      },
    },
    {
      method: "DELETE",
      path: "/users/:uuid",
      summary: "Delete an account with its keys, logins and secrets",
      tag: "users",
      action: "people",
      query: DRY_RUN,
      async handle(request) {
        const account = accountAt(parts, request);
        if (isOn(request.query, "dryRun")) return { body: { changes: [row("delete", account.email)] } };
        await access.removeAccount(account);
        return {};
      },
    },
    {
      method: "POST",
      path: "/users/:uuid/invitation",
      summary: "Create a new link to choose a password; the previous link stops working",
      tag: "users",
      action: "people",
      answer: ref("Invitation"),
      async handle(request) {
        const account = accountAt(parts, request);
        if (account.identity)
          throw new Problem(409, "this account logs in elsewhere and has no password here");
        return { body: await invite(parts, account) };
      },
    },
  ];
}

export function shownAccount(stored: Account) {
  const { password, emailVerified: _, ...account } = stored;
  const invited = password === undefined && !account.identity;
  return { ...account, ...(invited ? { invited } : {}) };
}

async function invite({ access, publicUrl }: AdminParts, account: Account) {
  const { code, expiresAt } = await access.invitations.create(account);
  return { url: `${publicUrl()}/invitations/${code}`, expiresAt };
}

/** Finds the account in the path by uuid or e-mail address. */
function accountAt({ access: { accounts } }: AdminParts, { params }: AdminRequest): Account {
  const reference = params["uuid"] ?? "";
  const found = accounts.byId(reference) ?? accounts.byEmail(reference);
  if (!found) throw new Problem(404, `there is no account "${reference.slice(0, 64)}"`);
  return found;
}

function row(op: "create" | "update" | "delete", name: string) {
  return { op, kind: "user", name };
}
