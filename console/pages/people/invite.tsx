/** Invites somebody: the link is shown here, and sent by whoever invites. */
import { useSignal } from "@preact/signals";
import { send } from "../../api/client.ts";
import type { Invitation, Role } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { CopyLine } from "../../components/empty-state.tsx";
import { TextField } from "../../components/text-field.tsx";
import { refresh } from "../../live/resource.ts";
import { FormDialog } from "../../shell/form-dialog.tsx";
import { peopleTexts } from "../../texts/people.ts";
import { useSending } from "../../use-sending.ts";
import { groupsIn } from "./groups.ts";
import { RoleField } from "./role-field.tsx";

const texts = peopleTexts.form;

export function Invite({ onClose }: { readonly onClose: () => void }) {
  const email = useSignal("");
  const role = useSignal<Role>("member");
  const groups = useSignal("");
  const made = useSignal<Invitation | undefined>(undefined);
  const sending = useSending();
  const submit = () =>
    sending.run(async () => {
      const body = { email: email.value.trim(), role: role.value, groups: groupsIn(groups.value) };
      made.value = (await send("POST /users", body)).invitation;
      refresh("/users");
    });
  if (made.value) return <Invited email={email.value} invitation={made.value} onClose={onClose} />;
  return (
    <FormDialog
      title={texts.title}
      submit={texts.submit}
      sending={sending}
      onSubmit={submit}
      onClose={onClose}
    >
      <TextField
        label={texts.email}
        type="email"
        required
        autofocus
        value={email.value}
        error={sending.faultOf("/email")}
        onInput={(value) => (email.value = value)}
      />
      <RoleField value={role.value} error={sending.faultOf("/role")} onInput={(one) => (role.value = one)} />
      <TextField
        label={texts.groups}
        hint={texts.groupsHint}
        optional
        value={groups.value}
        error={sending.faultOf("/groups")}
        onInput={(value) => (groups.value = value)}
      />
    </FormDialog>
  );
}

interface InvitedProps {
  readonly email: string;
  readonly invitation: Invitation;
  readonly onClose: () => void;
}

export function Invited({ email, invitation, onClose }: InvitedProps) {
  const { title, text, done } = peopleTexts.invited;
  return (
    <Dialog
      open
      title={title}
      onClose={onClose}
      actions={
        <Button kind="primary" onClick={onClose}>
          {done}
        </Button>
      }
    >
      <div class="stack">
        <p>{text(email)}</p>
        <CopyLine text={invitation.url} />
      </div>
    </Dialog>
  );
}
