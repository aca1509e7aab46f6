/** One account: role, groups, the clients it allowed; disable or delete it. */
import { useSignal } from "@preact/signals";
import { hrefOf } from "../../address.ts";
import { Ago } from "../../ago.tsx";
import { send } from "../../api/client.ts";
import type { Invitation, User, UserPatch } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { Drawer } from "../../components/drawer.tsx";
import { ForeignText } from "../../components/foreign-text.tsx";
import { KeyValues } from "../../components/key-values.tsx";
import { ListField } from "../../components/list-field.tsx";
import { toast } from "../../components/toasts.tsx";
import { refresh } from "../../live/resource.ts";
import { address, go } from "../../navigate.ts";
import { may, me } from "../../session.ts";
import { DraftBar } from "../../shell/draft-bar.tsx";
import { FormDialog } from "../../shell/form-dialog.tsx";
import { Refused } from "../../shell/refused.tsx";
import { peopleTexts } from "../../texts/people.ts";
import { useDraft } from "../../use-draft.ts";
import { useSending } from "../../use-sending.ts";
import { Grants } from "./grants.tsx";
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
        <Rights key={user.uuid} user={user} locked={own} />
        <Refused problem={asking.value ? undefined : sending.problem} />
        <Grants of={user.uuid} />
        {may("audit.read") && (
          <p>
            <a href={hrefOf({ page: "audit", query: { principalName: user.email } })}>{texts.audit}</a>
          </p>
        )}
        {!own && (
          <div class="line danger-end">
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
        <FormDialog
          title={peopleTexts[asking.value].title(user.email)}
          danger
          submit={asking.value === "remove" ? peopleTexts.remove.action : texts.disable}
          sending={sending}
          onSubmit={() =>
            void (asking.value === "remove"
              ? remove()
              : change({ disabled: true }, peopleTexts.disable.done(user.email)))
          }
          onClose={() => (asking.value = undefined)}
        >
          <p>{peopleTexts[asking.value].text}</p>
        </FormDialog>
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
}

function Rights({ user, locked }: RightsProps) {
  const draft = useDraft(`people ${user.uuid}`, user);
  const sending = useSending();
  const { role, groups } = draft.value;
  const save = async () => {
    const patch = draft.patch as UserPatch;
    if (!(await sending.run(() => send("PATCH /users/:uuid", patch, { params: { uuid: user.uuid } }))))
      return;
    draft.clear();
    toast({ text: texts.saved });
    refresh("/users");
  };
  return (
    <>
      <RoleField
        value={role}
        error={sending.faultOf("/role")}
        disabled={locked}
        onInput={(one) => draft.set({ role: one })}
      />
      <ListField
        label={peopleTexts.form.groups}
        hint={peopleTexts.form.groupsHint}
        value={groups}
        error={sending.faultOf("/groups")}
        onInput={(value) => draft.set({ groups: value })}
      />
      <DraftBar draft={draft} sending={sending} save={texts.save} onSave={() => void save()} />
    </>
  );
}
