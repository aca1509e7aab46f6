/** The form that changes the person's password. */
import { useSignal } from "@preact/signals";
import { send } from "../../api/client.ts";
import { Button } from "../../components/button.tsx";
import { Form } from "../../components/form.tsx";
import { TextField } from "../../components/text-field.tsx";
import { toast } from "../../components/toasts.tsx";
import { NewPassword } from "../../parts/new-password.tsx";
import { me } from "../../session.ts";
import { Refused } from "../../shell/refused.tsx";
import { meTexts } from "../../texts/me.ts";
import { useSending } from "../../use-sending.ts";

const texts = meTexts.password;

export function Password() {
  const current = useSignal("");
  const next = useSignal("");
  const sending = useSending();
  const issuer = me.value?.account?.identity?.issuer;
  const save = async () => {
    const body = { current: current.value, password: next.value };
    if (!(await sending.run(() => send("PUT /me/password", body)))) return;
    current.value = "";
    next.value = "";
    toast({ text: texts.saved });
  };
  return (
    <section class="stack-small">
      <h2>{texts.title}</h2>
      {issuer ? (
        <p>{texts.elsewhere(issuer)}</p>
      ) : (
        <Form class="me-form" onSubmit={() => save()}>
          <TextField
            label={texts.current}
            type="password"
            autocomplete="current-password"
            required
            value={current.value}
            onInput={(text) => (current.value = text)}
          />
          <NewPassword
            label={texts.next}
            hint={texts.hint}
            value={next.value}
            sending={sending}
            onInput={(text) => (next.value = text)}
          />
          <Refused problem={sending.problem} />
          <div class="line">
            <Button type="submit" busy={sending.busy}>
              {texts.save}
            </Button>
          </div>
        </Form>
      )}
    </section>
  );
}
