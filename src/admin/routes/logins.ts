/** Routes for logins at servers: those of one account, and shared logins, which administrators manage. */

import type { Account } from "../../access/account.ts";
import { localPath } from "../../access/local-path.ts";
import { find } from "../../gateway/names.ts";
import { MetaMcpError } from "../../kernel/errors.ts";
import type { Static } from "../../kernel/json-schema.ts";
import {
  LOGIN_ADDRESS,
  LOGIN_STATE,
  OWN_SERVER,
  type OwnServer,
} from "../../server-logins/accounts/login-state.ts";
import type { LoginBy } from "../../server-logins/accounts/server-logins.ts";
import { pageOf } from "../page.ts";
import { LOGIN_START } from "../people-schemas.ts";
import { Problem } from "../problem.ts";
import { type AdminRequest, type AtObject, DRY_RUN, LIST_QUERY, route } from "../route.ts";
import { listOf } from "../schemas.ts";
import { type AdminParts, accountOf, dryRun } from "./parts.ts";

export function loginAtServerRoutes({ logins, control }: AdminParts) {
  const own = (request: AdminRequest<unknown, unknown, { readonly server: string }>): OwnServer => {
    const found = logins.find(accountOf(request), request.params.server);
    if (!found) throw new Problem(404, "there is no such server with per-account logins");
    return found;
  };
  const shared = ({ params }: AtObject) => {
    const server = find(control.compiled.objects.server, params.uuid);
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
    route({
      method: "GET",
      path: "/me/logins",
      summary: "List the servers with per-account logins, and what your account still needs",
      tag: "me",
      action: "me.secrets",
      query: LIST_QUERY,
      answer: listOf(OWN_SERVER),
      handle(request) {
        const all = logins.list(accountOf(request));
        const by = { keyOf: ({ server }: OwnServer) => server, textOf: ({ name }: OwnServer) => name };
        return { body: pageOf(all, request.query, by) };
      },
    }),
    route({
      method: "POST",
      path: "/me/logins/:server",
      summary: "Log in to a server: returns the address to open in the same browser",
      tag: "me",
      action: "me.secrets",
      body: LOGIN_START,
      answer: LOGIN_ADDRESS,
      async handle(request) {
        const returnTo = returnToOf(request.body);
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
    }),
    route({
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
        if (request.query.dryRun) return dryRun("delete", "login", name);
        request.recordChanges([{ action: "logout", object }]);
        await logins.end(own(request), account);
        return {};
      },
    }),
    route({
      method: "GET",
      path: "/mcp-servers/:uuid/login",
      summary: "Show the shared login of a server",
      tag: "mcp-servers",
      action: "servers.write",
      answer: LOGIN_STATE,
      handle: (request) => ({ body: shared(request).state }),
    }),
    route({
      method: "POST",
      path: "/mcp-servers/:uuid/login",
      summary: "Log in to a server for everybody: returns the address to open",
      tag: "mcp-servers",
      action: "servers.write",
      body: LOGIN_START,
      answer: LOGIN_ADDRESS,
      async handle(request) {
        const returnTo = returnToOf(request.body);
        const { uuid, name } = shared(request);
        request.recordChanges([{ action: "begin-login", object: { kind: "server", uuid, name } }]);
        return { body: await logins.beginShared(uuid, initiatorOf(request), returnTo).catch(unreachable) };
      },
    }),
    route({
      method: "DELETE",
      path: "/mcp-servers/:uuid/login",
      summary: "Delete the shared login of a server",
      tag: "mcp-servers",
      action: "servers.write",
      query: DRY_RUN,
      async handle(request) {
        const { uuid, name, state } = shared(request);
        if (state.state === "none") throw new Problem(404, `the gateway is not logged in to ${name}`);
        if (request.query.dryRun) return dryRun("delete", "login", name);
        request.recordChanges([{ action: "logout", object: { kind: "server", uuid, name } }]);
        await logins.endShared(uuid);
        return {};
      },
    }),
  ];
}

function initiatorOf({ principal, account, address }: AdminRequest): LoginBy {
  // The browser that returns from the login has a session, not a key.
  return { principal, address, account: principal.key ? undefined : account };
}

function returnToOf({ returnTo }: Static<typeof LOGIN_START>): string | undefined {
  if (returnTo === undefined) return undefined;
  const path = localPath(returnTo);
  if (path === undefined) throw new Problem(422, "returnTo must be a path of this gateway");
  return path;
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
