/** Routes for login at an external identity provider: the redirect there, and the callback. */

import { accountPrincipal } from "../../access/account.ts";
import { LoginRefused } from "../../access/oidc-login.ts";
import type { LoginTried } from "../../kernel/events.ts";
import { requestIdIn } from "../../kernel/traceparent.ts";
import { Problem } from "../problem.ts";
import { type AdminAnswer, route } from "../route.ts";
import type { AdminParts } from "./parts.ts";

export function oidcRoutes(parts: AdminParts) {
  return [
    route({
      method: "GET",
      path: "/login/oidc",
      summary: "Log in at the identity provider: redirects the browser",
      tag: "login",
      action: "login",
      query: { returnTo: { type: "string", description: "the path to come back to" } },
      status: 302,
      async handle({ query }) {
        const { url, cookie } = await oidcOf(parts)
          .begin(query.returnTo)
          .catch((error: Error) => {
            parts.log?.warn(`the identity provider cannot be used: ${error.message}`);
            throw new Problem(503, "the identity provider cannot be reached: try again later");
          });
        return { status: 302, headers: { location: url, "set-cookie": cookie } };
      },
    }),
    route({
      method: "GET",
      path: "/login/oidc/callback",
      summary: "Callback of the identity provider",
      tag: "login",
      action: "login",
      anyQuery: true,
      refusesWithPage: true,
      status: 302,
      async handle({ search, headers, address }) {
        const oidc = oidcOf(parts);
        const common = { type: "login", by: "oidc", address, ...requestIdIn(headers) } as const;
        const emit = (outcome: "ok" | "refused", more: Partial<LoginTried>): void =>
          parts.events?.emit({ ...common, at: Date.now(), outcome, ...more });
        try {
          const { account, login, returnTo } = await oidc.finish(search, headers);
          emit("ok", { principal: accountPrincipal(account) });
          const cookie = await parts.access.sessions.begin(account, headers, login);
          return { status: 302, headers: { location: returnTo, "set-cookie": [cookie, oidc.cleared] } };
        } catch (error) {
          if (!(error instanceof LoginRefused)) throw error;
          const { reason, tried } = error;
          emit("refused", { reason, ...(tried && { tried }) });
          return refusal(error.message, oidc.cleared);
        }
      },
    }),
  ];
}

function oidcOf({ oidc }: AdminParts): NonNullable<AdminParts["oidc"]> {
  if (!oidc) throw new Problem(404, "this gateway has no identity provider: log in with a password");
  return oidc;
}

/** An HTML page, because the browser shows the response of the callback. */
function refusal(message: string, cleared: string): AdminAnswer<never> {
  const shown = message.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
  const content = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Login refused</title><h1>Login refused</h1><p>${shown}</p><p><a href="/">Back</a></p></html>`;
  return {
    status: 403,
    text: { type: "text/html; charset=utf-8", content },
    headers: {
      "set-cookie": cleared,
      "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    },
  };
}
