/** The dialog that invites a person. It shows the link; the inviting person must send it. */
import { useSignal } from "@preact/signals";
import { send } from "../../api/client.ts";
import type { Invitation, Role } from "../../api/types.ts";
import { TextField } from "../../components/text-field.tsx";
import { refresh } from "../../live/resource.ts";
import { FormDialog } from "../../shell/form-dialog.tsx";
import { ShownOnce } from "../../shell/shown-once.tsx";
import { peopleTexts } from "../../texts/people.ts";
import { useSending } from "../../use-sending.ts";
import { GroupsField } from "./groups-field.tsx";
import { RoleField } from "./role-field.tsx";

const texts = peopleTexts.form;

export function Invite({ onClose }: { readonly onClose: () => void }) {
  const email = useSignal("");
  const role = useSignal<Role>("member");
  const groups = useSignal<readonly string[]>([]);
  const made = useSignal<Invitation | undefined>(undefined);
  const sending = useSending();
  const submit = () =>
    sending.run(async () => {
      const body = { email: email.value.trim(), role: role.value, groups: groups.value };
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
      <GroupsField
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
  const { invited } = peopleTexts;
  return <ShownOnce texts={invited} text={invited.text(email)} line={invitation.url} onClose={onClose} />;
}
