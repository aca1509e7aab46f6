/**
 * Routes for setup, invitations, passwords, login and logout. Responses set the cookie; their bodies contain
 * no secret.
 */

import type { Account } from "../../access/account.ts";
import { accountPrincipal } from "../../access/account.ts";
import { AccessError } from "../../access/error.ts";
import { may } from "../../access/may.ts";
import { typedAddress } from "../../access/tried-login.ts";
import { weaknessOf } from "../../access/weak-password.ts";
import { invalid } from "../../gateway/refusal.ts";
import type { TriedLogin } from "../../kernel/events.ts";
import { BOOLEAN, DATE, object, TEXT } from "../../kernel/json-schema.ts";
import { requestIdIn } from "../../kernel/traceparent.ts";
import { LOGIN, ME, type Me, NEW_PASSWORD, PASSWORD_CHANGE, SETUP } from "../people-schemas.ts";
import { Problem } from "../problem.ts";
import { type AdminAnswer, type AdminRequest, route } from "../route.ts";

import { shownMe } from "./me.ts";
import type { AdminParts } from "./parts.ts";

const LOGIN_METHODS = object(
  {
    oidc: { ...BOOLEAN, description: "login at an identity provider is available at GET /login/oidc" },
    passwords: { ...BOOLEAN, description: "login with a password is available" },
    setup: {
      ...BOOLEAN,
      description: "there is no administrator yet; the link that the gateway printed creates one",
    },
  },
  {
    provider: { ...TEXT, description: "the host of the identity provider" },
    me: { ...ME, description: "the account that is logged in" },
  },
);

export function loginRoutes(parts: AdminParts) {
  const { access } = parts;
  return [
    route({
      method: "GET",
      path: "/login",
      summary: "Show the available login methods and the current login",
      tag: "login",
      action: "login",
      answer: LOGIN_METHODS,
      handle: ({ principal, account }) => ({
        body: {
          oidc: parts.oidc !== undefined,
          ...(parts.oidc && { provider: parts.oidc.provider }),
          passwords: access.accounts.takesPasswords,
          setup:
            access.adminToken === undefined && !access.accounts.hasAdmin && access.accounts.takesPasswords,
          ...(may(principal, "me.read") && { me: shownMe(parts, principal, account) }),
        },
      }),
    }),
    route({
      method: "POST",
      path: "/login",
      summary: "Log in with a password. The answer sets a cookie",
      tag: "login",
      action: "login",
      body: LOGIN,
      answer: ME,
      async handle(request) {
        const { email, password } = request.body;
        const account = await withLoginEvent(
          parts,
          request,
          { by: "password", tried: typedAddress(email) },
          (refused) => access.accounts.withPassword(email, password, request.address, refused),
        );
        if (!account) throw new Problem(401, "the e-mail address or the password is wrong");
        return await loggedIn(parts, request, account);
      },
    }),
    route({
      method: "GET",
      path: "/setup/:code",
      summary: "Check the code that the gateway printed at start",
      tag: "login",
      action: "login",
      answer: object({ valid: BOOLEAN }),
      async handle({ params }) {
        await access.setup.check(params.code);
        return { body: { valid: true } };
      },
    }),
    route({
      method: "POST",
      path: "/setup",
      summary: "Create the first administrator, with the code that the gateway printed at start",
      tag: "login",
      action: "login",
      body: SETUP,
      answer: ME,
      async handle(request) {
        const { code, ...credentials } = request.body;
        refuseWeak(credentials.password, credentials.email);
        const account = await withLoginEvent(parts, request, { by: "setup" }, () =>
          access.setup.finish(code, credentials),
        );
        return await loggedIn(parts, request, account);
      },
    }),
    route({
      method: "GET",
      path: "/invitations/:code",
      summary: "Show the account of an invitation",
      tag: "login",
      action: "login",
      answer: object({ email: TEXT, expiresAt: DATE }),
      async handle({ params }) {
        const { account, expiresAt } = await access.invitations.find(params.code);
        return { body: { email: account.email, expiresAt } };
      },
    }),
    route({
      method: "POST",
      path: "/invitations/:code",
      summary: "Accept an invitation: choose a password and log in",
      tag: "login",
      action: "login",
      body: NEW_PASSWORD,
      answer: ME,
      async handle(request) {
        const { password } = request.body;
        const code = request.params.code;
        const account = await withLoginEvent(parts, request, { by: "invitation" }, async () => {
          refuseWeak(password, (await access.invitations.find(code)).account.email);
          return await access.invitations.accept(code, password);
        });
        await access.sessions.endOf(account.uuid);
        return await loggedIn(parts, request, account);
      },
    }),
    route({
      method: "POST",
      path: "/logout",
      summary: "Log out",
      tag: "login",
      action: "me.read",
      answer: object({
        url: { ...TEXT, description: "ends the session at the identity provider too: open it" },
      }),
      // If there is no session at an identity provider that could be ended.
      mayBeEmpty: true,
      async handle({ headers }) {
        const idToken = access.sessions.idTokenOf(headers);
        const cookie = await access.sessions.end(headers);
        const url = idToken === undefined ? undefined : await parts.oidc?.endSessionUrl(idToken);
        return { ...(url === undefined ? {} : { body: { url } }), headers: { "set-cookie": cookie } };
      },
    }),
    route({
      method: "PUT",
      path: "/me/password",
      summary: "Change your password. All other logins of the account end",
      tag: "me",
      action: "me.change",
      body: PASSWORD_CHANGE,
      answer: ME,
      async handle(request) {
        const { current, password } = request.body;
        const { account, address, principal } = request;
        if (!account || principal.key) throw new Problem(403, "log in to change your password");
        if (account.identity)
          throw new Problem(409, "this account logs in elsewhere and has no password here");
        if (!(await access.accounts.withPassword(account.email, current, address)))
          throw new Problem(403, "the current password is wrong");
        refuseWeak(password, account.email);
        const changed = await access.accounts.change(account.uuid, { password });
        await access.sessions.endOf(account.uuid);
        const { uuid, email: name } = changed;
        request.recordChanges([{ action: "change-password", object: { kind: "user", uuid, name } }]);
        return await loggedIn(parts, request, changed);
      },
    }),
  ];
}

function refuseWeak(password: string, email: string): void {
  const message = weaknessOf(password, email);
  if (message !== undefined) throw invalid([{ path: "/password", message }]);
}

/** Runs a login attempt and emits an event with its outcome. */
async function withLoginEvent<T extends Account | undefined>(
  { events }: AdminParts,
  { address, headers }: AdminRequest,
  { by, tried }: { readonly by: string; readonly tried?: TriedLogin | undefined },
  attempt: (refused: (reason: string) => void) => Promise<T>,
): Promise<T> {
  let reason: string | undefined;
  const emit = (account: Account | undefined): void => {
    const who = account
      ? { principal: accountPrincipal(account) }
      : { ...(reason === undefined ? {} : { reason }), ...(tried && { tried }) };
    const outcome = account ? "ok" : "refused";
    events?.emit({ type: "login", at: Date.now(), outcome, by, address, ...requestIdIn(headers), ...who });
  };
  try {
    const account = await attempt((why) => {
      reason = why;
    });
    emit(account);
    return account;
  } catch (error) {
    if (!(error instanceof AccessError)) throw error;
    reason ??= error.message;
    emit(undefined);
    throw error;
  }
}

/** Starts a new session, even if the request already has one. */
async function loggedIn(
  parts: AdminParts,
  { headers }: AdminRequest,
  account: Account,
): Promise<AdminAnswer<Me>> {
  const cookie = await parts.access.sessions.begin(account, headers);
  return { body: shownMe(parts, accountPrincipal(account), account), headers: { "set-cookie": cookie } };
}
