/** The way in: a password, or an identity provider where there is one. Leads back to the address that somebody wanted. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { parseAddress } from "../../address.ts";
import { send } from "../../api/client.ts";
import { Button } from "../../components/button.tsx";
import { TextField } from "../../components/text-field.tsx";
import { useResource } from "../../live/resource.ts";
import { address, go } from "../../navigate.ts";
import { enter, sessionState } from "../../session.ts";
import { Bare, BareForm } from "../../shell/bare.tsx";
import { Refused } from "../../shell/refused.tsx";
import { loginTexts } from "../../texts/login.ts";
import { useSending } from "../../use-sending.ts";

const texts = loginTexts.login;

export default function Login() {
  const ways = useResource("/login", {}, {}).value.value;
  const email = useSignal("");
  const password = useSignal("");
  const sending = useSending();
  const to = wanted(address.value.query["to"]);
  const known = sessionState.value === "known";
  useEffect(() => {
    if (known) go(to, { replace: true });
  }, [known]);
  const submit = () =>
    sending.run(async () =>
      enter(await send("POST /login", { email: email.value, password: password.value })),
    );
  if (ways?.setup)
    return (
      <Bare title={texts.noAdministrator}>
        <p>{texts.findLink}</p>
        <code>{`${location.origin}/setup?code=…`}</code>
      </Bare>
    );
  return (
    <Bare title={texts.title}>
      {to !== "/" && <p class="muted">{texts.ended}</p>}
      {ways?.oidc && (
        <>
          <Button kind="primary" href={`/api/v1/login/oidc?${new URLSearchParams({ returnTo: to })}`}>
            {texts.oidc}
          </Button>
          <div class="bare-or">{texts.or}</div>
        </>
      )}
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
        <Button type="submit" kind={ways?.oidc ? "plain" : "primary"} busy={sending.busy}>
          {texts.submit}
        </Button>
      </BareForm>
    </Bare>
  );
}

/** A page of the console, whatever the address says. */
function wanted(written = "/"): string {
  const { origin } = location;
  const url = URL.canParse(written, origin) ? new URL(written, origin) : undefined;
  return url?.origin === origin && parseAddress(url).page !== "missing" ? url.pathname + url.search : "/";
}
