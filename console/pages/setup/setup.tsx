/** The page of the setup link, which creates the first administrator. */
import { useSignal } from "@preact/signals";
import { send } from "../../api/client.ts";
import { Button } from "../../components/button.tsx";
import { TextField } from "../../components/text-field.tsx";
import { address, go } from "../../navigate.ts";
import { NewPassword } from "../../parts/new-password.tsx";
import { startSession } from "../../session.ts";
import { Bare, BareForm } from "../../shell/bare.tsx";
import { Refused } from "../../shell/refused.tsx";
import { loginTexts } from "../../texts/login.ts";
import { useSending } from "../../use-sending.ts";

const texts = loginTexts.setup;

export default function Setup() {
  const { code } = address.value.query;
  const email = useSignal("");
  const password = useSignal("");
  const sending = useSending();
  const submit = () =>
    sending.run(async () => {
      startSession(
        await send("POST /setup", { code: code ?? "", email: email.value, password: password.value }),
      );
      // The code is used up and should not stay in the browser history.
      go("/", { replace: true });
    });
  if (!code)
    return (
      <Bare title={texts.noCode}>
        <p>{texts.noCodeText}</p>
      </Bare>
    );
  return (
    <Bare title={texts.title}>
      <p class="muted">{texts.text}</p>
      <BareForm onSubmit={() => void submit()}>
        <TextField
          label={texts.email}
          type="email"
          name="email"
          autocomplete="username"
          required
          error={sending.faultOf("/email")}
          value={email.value}
          onInput={(value) => (email.value = value)}
        />
        <NewPassword value={password.value} sending={sending} onInput={(value) => (password.value = value)} />
        <Refused problem={sending.problem} shownByFields={["/email", "/password"]} />
        <Button type="submit" kind="primary" busy={sending.busy}>
          {texts.submit}
        </Button>
      </BareForm>
    </Bare>
  );
}
