/**
 * The login page: a password, or an identity provider if one is configured. Returns to the requested address.
 */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { parseAddress } from "../../address.ts";
import { send } from "../../api/client.ts";
import { Button } from "../../components/button.tsx";
import { TextField } from "../../components/text-field.tsx";
import { useResource } from "../../live/resource.ts";
import { address, go } from "../../navigate.ts";
import { sessionState, startSession } from "../../session.ts";
import { Bare, BareForm } from "../../shell/bare.tsx";
import { Refused } from "../../shell/refused.tsx";
import { loginTexts } from "../../texts/login.ts";
import { useSending } from "../../use-sending.ts";

const texts = loginTexts.login;

export default function Login() {
  const options = useResource("/login", {}, {}).value.value;
  const email = useSignal("");
  const password = useSignal("");
  const sending = useSending();
  const to = safeTarget(address.value.query["to"]);
  const loggedIn = sessionState.value === "logged-in";
  useEffect(() => {
    if (loggedIn) go(to, { replace: true });
  }, [loggedIn]);
  const submit = () =>
    sending.run(async () =>
      startSession(await send("POST /login", { email: email.value, password: password.value })),
    );
  if (options?.setup)
    return (
      <Bare title={texts.noAdministrator}>
        <p>{texts.findLink}</p>
        <code>{`${location.origin}/setup?code=…`}</code>
      </Bare>
    );
  return (
    <Bare title={texts.title}>
      {to !== "/" && <p class="muted">{texts.ended}</p>}
      {options?.oidc && (
        <>
          <Button kind="primary" href={`/api/v1/login/oidc?${new URLSearchParams({ returnTo: to })}`}>
            {texts.oidc}
          </Button>
          {options.passwords && <div class="bare-or">{texts.or}</div>}
        </>
      )}
      {options?.passwords !== false && (
        <BareForm onSubmit={() => void submit()}>
          <TextField
            label={texts.email}
            type="email"
            name="email"
            autocomplete="username"
            required
            value={email.value}
            onInput={(value) => (email.value = value)}
          />
          <TextField
            label={texts.password}
            type="password"
            name="password"
            autocomplete="current-password"
            required
            value={password.value}
            onInput={(value) => (password.value = value)}
          />
          <Refused problem={sending.problem} />
          <Button type="submit" kind={options?.oidc ? "plain" : "primary"} busy={sending.busy}>
            {texts.submit}
          </Button>
        </BareForm>
      )}
    </Bare>
  );
}

/**
 * Returns the requested address if it is a page of this console, else the overview. This prevents redirects
 * to other hosts.
 */
function safeTarget(requested = "/"): string {
  const { origin } = location;
  const url = URL.canParse(requested, origin) ? new URL(requested, origin) : undefined;
  return url?.origin === origin && parseAddress(url).page !== "missing" ? url.pathname + url.search : "/";
}
