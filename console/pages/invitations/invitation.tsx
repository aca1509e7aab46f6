/** The page of an invitation link: the invited person chooses a password and is logged in. */
import { useSignal } from "@preact/signals";
import { send } from "../../api/client.ts";
import { Button } from "../../components/button.tsx";
import { Skeleton } from "../../components/skeleton.tsx";
import { useResource } from "../../live/resource.ts";
import { address, go } from "../../navigate.ts";
import { NewPassword } from "../../parts/new-password.tsx";
import { startSession } from "../../session.ts";
import { Bare, BareForm } from "../../shell/bare.tsx";
import { Refused } from "../../shell/refused.tsx";
import { loginTexts } from "../../texts/login.ts";
import { useSending } from "../../use-sending.ts";

const texts = loginTexts.invitation;

export default function Invitation() {
  const code = address.value.id ?? "";
  const invitation = useResource("/invitations/:code", code ? { code } : undefined, {}).value;
  if (invitation.state === "ready") return <Accept code={code} email={invitation.value.email} />;
  if (code && invitation.state === "loading")
    return (
      <Bare title={texts.title}>
        <Skeleton rows={4} />
      </Bare>
    );
  return (
    <Bare title={texts.gone}>
      <p>{texts.goneText}</p>
    </Bare>
  );
}

function Accept({ code, email }: { readonly code: string; readonly email: string }) {
  const password = useSignal("");
  const sending = useSending();
  const submit = () =>
    sending.run(async () => {
      startSession(await send("POST /invitations/:code", { password: password.value }, { params: { code } }));
      go("/", { replace: true });
    });
  return (
    <Bare title={texts.title}>
      <p class="muted">
        <bdi>{texts.text(email)}</bdi>
      </p>
      <BareForm onSubmit={() => void submit()}>
        {/* Lets password managers store the password with the right user name. */}
        <input
          class="for-screen-readers"
          type="email"
          autocomplete="username"
          value={email}
          readOnly
          tabIndex={-1}
          aria-hidden
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
