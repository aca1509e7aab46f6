/** Routes for logins at servers: those of one account, and shared logins, which administrators manage. */
import type { Account } from "../../access/account.ts";
import { ownPath } from "../../access/own-path.ts";
import { find } from "../../gateway/names.ts";
import { MetaMcpError } from "../../kernel/errors.ts";
import type { OwnServer } from "../../logins/login-control.ts";
import type { LoginBy } from "../../logins/server-logins.ts";
import { pageOf } from "../page.ts";
import { LOGIN_START } from "../people-schemas.ts";
import { Problem } from "../problem.ts";
import { type AdminRequest, DRY_RUN, LIST_QUERY, type Route } from "../route.ts";
import { listOf, ref } from "../schemas.ts";
import { type AdminParts, checkedBody, isOn } from "./parts.ts";

export function loginAtServerRoutes({ logins, control }: AdminParts): readonly Route[] {
  const own = (request: AdminRequest): OwnServer => {
    const found = logins.find(accountOf(request), request.params["server"] ?? "");
    if (!found) throw new Problem(404, "there is no such server with per-account logins");
    return found;
  };
  const shared = ({ params }: AdminRequest) => {
    const server = find(control.compiled.objects.server, params["uuid"] ?? "");
    if (!server) throw new Problem(404, "there is no such server");
    const { uuid, name } = server;
    const state = logins.shared(uuid);
    if (!state)
      throw new Problem(
        409,
        "this server has no shared login: it is local or disabled, has an Authorization header, or uses per-account logins",
      );
    return { uuid, name, state };
  };
  return [
    {
      method: "GET",
      path: "/me/logins",
      summary: "List the servers with per-account logins, and what your account still needs",
      tag: "me",
      action: "me.secrets",
      query: LIST_QUERY,
      answer: listOf(ref("OwnServer")),
      handle(request) {
        const all = logins.list(accountOf(request));
        const by = { keyOf: ({ server }: OwnServer) => server, textOf: ({ name }: OwnServer) => name };
        return { body: pageOf(all, request.query, by) };
      },
    },
    {
      method: "POST",
      path: "/me/logins/:server",
      summary: "Log in to a server: returns the address to open in the same browser",
      tag: "me",
      action: "me.secrets",
      body: ref("LoginStart"),
      answer: ref("LoginAddress"),
      async handle(request) {
        const returnTo = await returnToOf(request);
        const account = personOf(request);
        const server = own(request);
        if (server.needs !== "login")
          throw new Problem(409, "this server has no login: it uses your secrets");
        if (server.missing) throw new Problem(409, `set your secret ${server.missing[0]} first`);
        request.recordChanges([
          { action: "begin-login", object: { kind: "server", uuid: server.server, name: server.name } },
        ]);
        const begun = logins.begin(server, { ...initiatorOf(request), account }, returnTo);
        return { body: await begun.catch(unreachable) };
      },
    },
    {
      method: "DELETE",
      path: "/me/logins/:server",
      summary:
        "Log out of a server. Its connections end, and its tokens are revoked if the issuer supports that",
      tag: "me",
      action: "me.secrets",
      query: DRY_RUN,
      async handle(request) {
        const account = personOf(request);
        const { name, server: uuid, login } = own(request);
        const object = { kind: "server", uuid, name };
        if (login === undefined || login.state === "none")
          throw new Problem(404, `you are not logged in to ${name}`);
        if (isOn(request.query, "dryRun"))
          return { body: { changes: [{ op: "delete", kind: "login", name }] } };
        request.recordChanges([{ action: "logout", object }]);
        await logins.end(own(request), account);
        return {};
      },
    },
    {
      method: "GET",
      path: "/mcp-servers/:uuid/login",
      summary: "Show the shared login of a server",
      tag: "mcp-servers",
      action: "servers.write",
      answer: ref("LoginState"),
      handle: (request) => ({ body: shared(request).state }),
    },
    {
      method: "POST",
      path: "/mcp-servers/:uuid/login",
      summary: "Log in to a server for everybody: returns the address to open",
      tag: "mcp-servers",
      action: "servers.write",
      body: ref("LoginStart"),
      answer: ref("LoginAddress"),
      async handle(request) {
        const returnTo = await returnToOf(request);
        const { uuid, name } = shared(request);
        request.recordChanges([{ action: "begin-login", object: { kind: "server", uuid, name } }]);
        return { body: await logins.beginShared(uuid, initiatorOf(request), returnTo).catch(unreachable) };
      },
    },
    {
      method: "DELETE",
      path: "/mcp-servers/:uuid/login",
      summary: "Delete the shared login of a server",
      tag: "mcp-servers",
      action: "servers.write",
      query: DRY_RUN,
      async handle(request) {
        const { uuid, name, state } = shared(request);
        if (state.state === "none") throw new Problem(404, `the gateway is not logged in to ${name}`);
        if (isOn(request.query, "dryRun"))
          return { body: { changes: [{ op: "delete", kind: "login", name }] } };
        request.recordChanges([{ action: "logout", object: { kind: "server", uuid, name } }]);
        await logins.endShared(uuid);
        return {};
      },
    },
  ];
}

function initiatorOf({ principal, account, address }: AdminRequest): LoginBy {
  // The browser that returns from the login has a session, not a key.
  return { principal, address, account: principal.key ? undefined : account };
}

async function returnToOf({ body }: AdminRequest): Promise<string | undefined> {
  const { returnTo } = await checkedBody<{ returnTo?: string }>(LOGIN_START, body ?? {});
  if (returnTo === undefined) return undefined;
  const path = ownPath(returnTo);
  if (path === undefined) throw new Problem(422, "returnTo must be a path of this gateway");
  return path;
}

function accountOf({ account }: AdminRequest): Account {
  if (!account) throw new Problem(403, "this is for accounts: log in, or use a key of an account");
  return account;
}

/** Refuses API keys: only a person who is logged in may start or end a login. */
function personOf(request: AdminRequest): Account {
  if (request.principal.key)
    throw new Problem(403, "a key cannot log in to servers: log in to the gateway first");
  return accountOf(request);
}

function unreachable(error: unknown): never {
  if (MetaMcpError.is(error)) throw new Problem(502, error.message);
  throw error;
}
