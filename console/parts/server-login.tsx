/**
 * Shows the state of a login at a server, personal or shared, and the buttons that begin, renew and end it.
 */
import { useSignal } from "@preact/signals";
import { Ago } from "../ago.tsx";
import { send } from "../api/client.ts";
import type { LoginState, OwnServer } from "../api/types.ts";
import { Button } from "../components/button.tsx";
import { type State, Status } from "../components/status.tsx";
import { toast } from "../components/toasts.tsx";
import { refresh } from "../live/resource.ts";
import { FormDialog } from "../shell/form-dialog.tsx";
import { loginTexts as texts } from "../texts/logins.ts";
import { useSending } from "../use-sending.ts";
import { beginLogin } from "./begin-login.ts";
import "./server-login.css";

/** The shown part of a server's login. */
export type ShownLogin = Pick<OwnServer, "needs" | "ready" | "login" | "missing" | "reason">;

export function LoginStatus({ needs, ready, login, missing = [], reason }: ShownLogin) {
  const status = (state: State, word: string, why?: string) => (
    <Status state={state} word={word} reason={why} />
  );
  if (missing.length > 0) return status("warn", texts.states.missing, texts.missing(missing));
  if (reason !== undefined && !ready) return status("bad", texts.states.unusable, reason);
  if (needs === "values") return status("ok", texts.states.ready);
  if (login?.state !== "active") return status("warn", texts.states[login?.state ?? "none"]);
  const { issuer, since, wanted, renews, expiresAt } = login;
  if (wanted) return status("warn", texts.states.active, texts.wanted(wanted));
  return (
    <span class="login-status">
      {status("ok", texts.states.active, issuer && texts.at(hostOf(issuer)))}
      <span class="faint small">
        {since !== undefined && (
          <>
            {texts.since} <Ago at={since} />,{" "}
          </>
        )}
        {renews || expiresAt === undefined ? (
          texts.renews
        ) : (
          <>
            {texts.until} <Ago at={expiresAt} />
          </>
        )}
      </span>
    </span>
  );
}

interface LoginButtonsProps {
  readonly server: { readonly uuid: string; readonly name: string };
  /** The person's own login, or the shared one. */
  readonly of: "me" | "all";
  readonly login: LoginState | undefined;
  /** Path of the console to return to. */
  readonly returnTo: string;
}

export function LoginButtons({ server, of, login, returnTo }: LoginButtonsProps) {
  const asking = useSignal(false);
  const redirecting = useSignal(false);
  const end = useSending();
  const { uuid, name } = server;
  const logIn = async () => {
    redirecting.value = true;
    await beginLogin(of, uuid, returnTo);
    redirecting.value = false;
  };
  const logOut = async () => {
    const done = await end.run(() =>
      of === "me"
        ? send("DELETE /me/logins/:server", undefined, { params: { server: uuid } })
        : send("DELETE /mcp-servers/:uuid/login", undefined, { params: { uuid } }),
    );
    if (!done) return;
    asking.value = false;
    toast({ text: of === "me" ? texts.loggedOut(name) : texts.shared.loggedOut(name) });
    refresh(of === "me" ? "/me/logins" : "/mcp-servers");
  };
  const hasLogin = login !== undefined && login.state !== "none";
  return (
    <span class="line">
      <Button
        size="small"
        kind={login?.state === "active" && !login.wanted ? "plain" : "primary"}
        busy={redirecting.value}
        label={`${hasLogin ? texts.logInAgain : texts.logIn}: ${name}`}
        onClick={() => void logIn()}
      >
        {hasLogin ? texts.logInAgain : texts.logIn}
      </Button>
      {hasLogin && (
        <Button
          size="small"
          kind="danger"
          label={`${texts.logOut}: ${name}`}
          onClick={() => (asking.value = true)}
        >
          {texts.logOut}
        </Button>
      )}
      {asking.value && (
        <FormDialog
          title={texts.askTitle(name)}
          danger
          submit={texts.logOut}
          sending={end}
          onSubmit={() => void logOut()}
          onClose={() => (asking.value = false)}
        >
          <p>{of === "me" ? texts.askText : texts.shared.askText}</p>
        </FormDialog>
      )}
    </span>
  );
}

function hostOf(issuer: string): string {
  return URL.canParse(issuer) ? new URL(issuer).host : issuer;
}
