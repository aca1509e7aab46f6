/** Routes for setup, invitations, passwords, login and logout. Responses set the cookie; their bodies contain no secret. */
import type { Account } from "../../access/account.ts";
import { accountPrincipal } from "../../access/account.ts";
import { AccessError } from "../../access/error.ts";
import { may } from "../../access/may.ts";
import { typedAddress } from "../../access/tried-login.ts";
import { weaknessOf } from "../../access/weak-password.ts";
import { invalid } from "../../gateway/refusal.ts";
import type { TriedLogin } from "../../kernel/events.ts";
import { LOGIN, NEW_PASSWORD, PASSWORD_CHANGE, SETUP } from "../people-schemas.ts";
import { Problem } from "../problem.ts";
import type { AdminAnswer, AdminRequest, Route } from "../route.ts";
import { ref } from "../schemas.ts";
import { shownMe } from "./me.ts";
import { type AdminParts, checkedBody } from "./parts.ts";

interface Credentials {
  readonly email: string;
  readonly password: string;
}

export function loginRoutes(parts: AdminParts): readonly Route[] {
  const { access } = parts;
  return [
    {
      method: "GET",
      path: "/login",
      summary: "Show the available login methods and the current login",
      tag: "login",
      action: "login",
      answer: {
        type: "object",
        properties: {
          oidc: {
            type: "boolean",
            description: "login at an identity provider is available at GET /login/oidc",
          },
          provider: { type: "string", description: "the host of the identity provider" },
          passwords: { type: "boolean", description: "login with a password is available" },
          setup: { type: "boolean", description: "there is no administrator yet" },
          me: { ...ref("Me"), description: "the account that is logged in" },
        },
        required: ["oidc", "passwords", "setup"],
      },
      handle: ({ principal, account }) => ({
        body: {
          oidc: parts.oidc !== undefined,
          ...(parts.oidc && { provider: parts.oidc.provider }),
          passwords: access.accounts.takesPasswords,
          setup: access.adminToken === undefined && !access.accounts.hasAdmin,
          ...(may(principal, "me.read") && { me: shownMe(parts, principal, account) }),
        },
      }),
    },
    {
      method: "POST",
      path: "/login",
      summary: "Log in with a password. The answer sets a cookie",
      tag: "login",
      action: "login",
      body: ref("Login"),
      answer: ref("Me"),
      async handle(request) {
        const { email, password } = await checkedBody<Credentials>(LOGIN, request.body);
        const account = await withLoginEvent(
          parts,
          request,
          { by: "password", tried: typedAddress(email) },
          (refused) => access.accounts.withPassword(email, password, request.address, refused),
        );
        if (!account) throw new Problem(401, "the e-mail address or the password is wrong");
        return await loggedIn(parts, request, account);
      },
    },
    {
      method: "POST",
      path: "/setup",
      summary: "Create the first administrator, with the code that the gateway printed at start",
      tag: "login",
      action: "login",
      body: ref("Setup"),
      answer: ref("Me"),
      async handle(request) {
        const { code, ...credentials } = await checkedBody<Credentials & { code: string }>(
          SETUP,
          request.body,
        );
        refuseWeak(credentials.password, credentials.email);
        const account = await withLoginEvent(parts, request, { by: "setup" }, () =>
          access.setup.finish(code, credentials),
        );
        return await loggedIn(parts, request, account);
      },
    },
    {
      method: "GET",
      path: "/invitations/:code",
      summary: "Show the account of an invitation",
      tag: "login",
      action: "login",
      answer: {
        type: "object",
        properties: { email: { type: "string" }, expiresAt: { type: "string", format: "date-time" } },
        required: ["email", "expiresAt"],
      },
      async handle({ params }) {
        const { account, expiresAt } = await access.invitations.find(params["code"] ?? "");
        return { body: { email: account.email, expiresAt } };
      },
    },
    {
      method: "POST",
      path: "/invitations/:code",
      summary: "Accept an invitation: choose a password and log in",
      tag: "login",
      action: "login",
      body: ref("NewPassword"),
      answer: ref("Me"),
      async handle(request) {
        const { password } = await checkedBody<Credentials>(NEW_PASSWORD, request.body);
        const code = request.params["code"] ?? "";
        const account = await withLoginEvent(parts, request, { by: "invitation" }, async () => {
          refuseWeak(password, (await access.invitations.find(code)).account.email);
          return await access.invitations.accept(code, password);
        });
        await access.sessions.endOf(account.uuid);
        return await loggedIn(parts, request, account);
      },
    },
    {
      method: "POST",
      path: "/logout",
      summary: "Log out",
      tag: "login",
      action: "me.read",
      answer: {
        type: "object",
        properties: {
          url: { type: "string", description: "ends the session at the identity provider too: open it" },
        },
        description: "empty (204) if there is no session at an identity provider that could be ended",
      },
      async handle({ headers }) {
        const idToken = access.sessions.idTokenOf(headers);
        const cookie = await access.sessions.end(headers);
        const url = idToken === undefined ? undefined : await parts.oidc?.endSessionUrl(idToken);
        return { ...(url === undefined ? {} : { body: { url } }), headers: { "set-cookie": cookie } };
      },
    },
    {
      method: "PUT",
      path: "/me/password",
      summary: "Change your password. All other logins of the account end",
      tag: "me",
      action: "me.change",
      body: ref("PasswordChange"),
      answer: ref("Me"),
      async handle(request) {
        const { current, password } = await checkedBody<{ current: string; password: string }>(
          PASSWORD_CHANGE,
          request.body,
        );
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
    },
  ];
}

function refuseWeak(password: string, email: string): void {
  const message = weaknessOf(password, email);
  if (message !== undefined) throw invalid([{ path: "/password", message }]);
}

/** Runs a login attempt and emits an event with its outcome. */
async function withLoginEvent<T extends Account | undefined>(
  { events }: AdminParts,
  { address }: AdminRequest,
  { by, tried }: { readonly by: string; readonly tried?: TriedLogin | undefined },
  attempt: (refused: (reason: string) => void) => Promise<T>,
): Promise<T> {
  let reason: string | undefined;
  const emit = (account: Account | undefined): void => {
    const who = account
      ? { principal: accountPrincipal(account) }
      : { ...(reason === undefined ? {} : { reason }), ...(tried && { tried }) };
    const outcome = account ? "ok" : "refused";
    events?.emit({ type: "login", at: Date.now(), outcome, by, address, ...who });
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
): Promise<AdminAnswer> {
  const cookie = await parts.access.sessions.begin(account, headers);
  return { body: shownMe(parts, accountPrincipal(account), account), headers: { "set-cookie": cookie } };
}
