/** The login rows of a server's state: the personal or the shared login. */
import { hrefOf } from "../../address.ts";
import type { LoginState, Server } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import type { KeyValue } from "../../components/key-values.tsx";
import { type RefreshRule, useList, useResource } from "../../live/resource.ts";
import { LoginButtons, LoginStatus } from "../../parts/server-login.tsx";
import { may } from "../../session.ts";
import { loginTexts as texts } from "../../texts/logins.ts";

const LOGINS: RefreshRule = { on: ["revision", "login"] };

/** Returns no rows if the server needs no login. */
export function useLoginRows(server: Server): readonly KeyValue[] {
  const mine = useList("/me/logins", may("me.secrets") ? {} : undefined, LOGINS).value.value;
  const own = mine?.find((one) => one.server === server.uuid);
  const shared = useSharedLogin(server, mine !== undefined && !own);
  const { uuid } = server;
  if (own)
    return [
      {
        key: texts.own,
        value: (
          <span class="line">
            <LoginStatus {...own} />
            {own.missing || own.needs === "values" ? (
              <Button size="small" href={hrefOf({ page: "me" })}>
                {texts.secrets}
              </Button>
            ) : (
              <LoginButtons
                server={server}
                of="me"
                login={own.login}
                returnTo={hrefOf({ page: "servers", id: uuid })}
              />
            )}
          </span>
        ),
      },
    ];
  if (!shared || (shared.state === "none" && !server.status.needsLogin)) return [];
  return [
    {
      key: texts.shared.key,
      value: (
        <span class="line">
          <LoginStatus needs="login" ready={shared.state === "active"} login={shared} />
          <LoginButtons
            server={server}
            of="all"
            login={shared}
            returnTo={hrefOf({ page: "servers", id: uuid, query: { back: "login" } })}
          />
        </span>
      ),
    },
  ];
}

/**
 * Reads the shared login only for servers that can have one, because the gateway refuses the request for
 * others.
 */
function useSharedLogin(server: Server, notPersonal: boolean): LoginState | undefined {
  const { uuid, url, openapi, credentials, disabled, headers = {} } = server;
  const possible =
    notPersonal &&
    may("servers.write") &&
    (url ?? openapi) !== undefined &&
    credentials === "shared" &&
    !disabled &&
    !Object.keys(headers).some((name) => name.toLowerCase() === "authorization");
  return useResource("/mcp-servers/:uuid/login", possible ? { uuid } : undefined, LOGINS).value.value;
}
