/** One account: role, groups, the clients it allowed; disable or delete it. */
import { useSignal } from "@preact/signals";
import { Ago } from "../../ago.tsx";
import { send } from "../../api/client.ts";
import type { Invitation, User, UserPatch } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { Drawer } from "../../components/drawer.tsx";
import { ForeignText } from "../../components/foreign-text.tsx";
import { KeyValues } from "../../components/key-values.tsx";
import { TextField } from "../../components/text-field.tsx";
import { toast } from "../../components/toasts.tsx";
import { refresh } from "../../live/resource.ts";
import { address, go } from "../../navigate.ts";
import { me } from "../../session.ts";
import { Confirm } from "../../shell/confirm.tsx";
import { Refused } from "../../shell/refused.tsx";
import { peopleTexts } from "../../texts/people.ts";
import { useSending } from "../../use-sending.ts";
import { Grants } from "./grants.tsx";
import { groupsIn } from "./groups.ts";
import { Invited } from "./invite.tsx";
import { RoleField } from "./role-field.tsx";

const texts = peopleTexts.drawer;

export function PersonDrawer({ user }: { readonly user: User }) {
  const asking = useSignal<"disable" | "remove" | undefined>(undefined);
  const invitation = useSignal<Invitation | undefined>(undefined);
  const sending = useSending();
  const own = user.uuid === me.value?.account?.uuid;
  const at = { params: { uuid: user.uuid } };
  const close = () => go({ page: "people", query: address.value.query });
  const change = async (patch: UserPatch, said: string) => {
    if (!(await sending.run(() => send("PATCH /users/:uuid", patch, at)))) return;
    asking.value = undefined;
    toast({ text: said });
    refresh("/users");
  };
  const remove = async () => {
    if (!(await sending.run(() => send("DELETE /users/:uuid", undefined, at)))) return;
    toast({ text: peopleTexts.remove.done(user.email) });
    refresh("/users");
    close();
  };
  const inviteAgain = () =>
    sending.run(async () => {
      invitation.value = await send("POST /users/:uuid/invitation", undefined, at);
    });
  return (
    <Drawer title={user.email} onClose={close}>
      <div class="stack">
        <About user={user} />
        {user.invited && (
          <div class="line">
            <Button onClick={() => void inviteAgain()}>{peopleTexts.invited.again}</Button>
          </div>
        )}
        {own && <p class="muted">{texts.self}</p>}
        <Rights user={user} locked={own} onSave={(patch) => void change(patch, texts.saved)} />
        <Refused problem={asking.value ? undefined : sending.problem} />
        <Grants of={user.uuid} />
        {!own && (
          <div class="line">
            {user.disabled ? (
              <Button onClick={() => void change({ disabled: false }, texts.saved)}>{texts.enable}</Button>
            ) : (
              <Button kind="danger" onClick={() => (asking.value = "disable")}>
                {texts.disable}
              </Button>
            )}
            <Button kind="danger" onClick={() => (asking.value = "remove")}>
              {peopleTexts.remove.action}
            </Button>
          </div>
        )}
      </div>
      {asking.value && (
        <Confirm
          title={peopleTexts[asking.value].title(user.email)}
          action={asking.value === "remove" ? peopleTexts.remove.action : texts.disable}
          sending={sending}
          onConfirm={() =>
            void (asking.value === "remove"
              ? remove()
              : change({ disabled: true }, peopleTexts.disable.done(user.email)))
          }
          onClose={() => (asking.value = undefined)}
        >
          <p>{peopleTexts[asking.value].text}</p>
        </Confirm>
      )}
      {invitation.value && (
        <Invited
          email={user.email}
          invitation={invitation.value}
          onClose={() => (invitation.value = undefined)}
        />
      )}
    </Drawer>
  );
}

function About({ user: { identity, createdAt, updatedAt } }: { readonly user: User }) {
  const { columns, password, issuer } = peopleTexts;
  return (
    <KeyValues
      items={[
        {
          key: columns.login,
          value: identity ? <ForeignText text={issuer(identity.issuer ?? "")} /> : password,
        },
        { key: columns.created, value: <Ago at={createdAt} /> },
        { key: columns.changed, value: <Ago at={updatedAt} /> },
      ]}
    />
  );
}

interface RightsProps {
  readonly user: User;
  /** Nobody takes the role from themselves by accident. */
  readonly locked: boolean;
  readonly onSave: (patch: UserPatch) => void;
}

function Rights({ user, locked, onSave }: RightsProps) {
  const role = useSignal(user.role);
  const groups = useSignal(user.groups.join(", "));
  const changed = role.value !== user.role || groupsIn(groups.value).join() !== user.groups.join();
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        onSave({
          ...(role.value !== user.role && { role: role.value }),
          groups: groupsIn(groups.value),
        });
      }}
    >
      <RoleField
        value={role.value}
        error={undefined}
        disabled={locked}
        onInput={(one) => (role.value = one)}
      />
      <TextField
        label={peopleTexts.form.groups}
        hint={peopleTexts.form.groupsHint}
        optional
        value={groups.value}
        onInput={(value) => (groups.value = value)}
      />
      <div class="line">
        <Button type="submit" disabled={!changed}>
          {texts.save}
        </Button>
      </div>
    </form>
  );
}
