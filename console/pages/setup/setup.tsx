/** The page of the setup link, which creates the first administrator. */
import { useSignal } from "@preact/signals";
import { send } from "../../api/client.ts";
import { Button } from "../../components/button.tsx";
import { Skeleton } from "../../components/skeleton.tsx";
import { TextField } from "../../components/text-field.tsx";
import { sentence } from "../../format.ts";
import { useResource } from "../../live/resource.ts";
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
  const { state, problem } = useResource("/setup/:code", code ? { code } : undefined, {}).value;
  if (!code)
    return (
      <Bare title={texts.noCode}>
        <p>{texts.noCodeText}</p>
      </Bare>
    );
  if (state === "loading")
    return (
      <Bare title={texts.title}>
        <Skeleton rows={4} />
      </Bare>
    );
  // The gateway refuses the code. If it could not be asked, it checks the code with the form.
  if (problem && problem.status >= 400 && problem.status < 500)
    return (
      <Bare title={texts.gone}>
        <p>{sentence(problem.message)}</p>
      </Bare>
    );
  return <Account code={code} />;
}

function Account({ code }: { readonly code: string }) {
  const email = useSignal("");
  const password = useSignal("");
  const sending = useSending();
  const submit = () =>
    sending.run(async () => {
      startSession(await send("POST /setup", { code, email: email.value, password: password.value }));
      // The code is used up and should not stay in the browser history.
      go("/", { replace: true });
    });
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
        <Refused problem={sending.problem} />
        <Button type="submit" kind="primary" busy={sending.busy}>
          {texts.submit}
        </Button>
      </BareForm>
    </Bare>
  );
}
