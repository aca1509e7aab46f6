/** The drawer of an account: role, groups and allowed clients. The account can be disabled or deleted. */
import { useSignal } from "@preact/signals";
import type { ComponentProps } from "preact";
import { hrefOf } from "../../address.ts";
import { Ago } from "../../ago.tsx";
import { send } from "../../api/client.ts";
import type { Invitation, User, UserPatch } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { Drawer } from "../../components/drawer.tsx";
import { ForeignText } from "../../components/foreign-text.tsx";
import { KeyValues } from "../../components/key-values.tsx";
import { toast } from "../../components/toasts.tsx";
import { CONFIG, refresh, useList, useResource } from "../../live/resource.ts";
import { address, go } from "../../navigate.ts";
import { ObjectLinks } from "../../parts/object-links.tsx";
import { UsageCharts } from "../../parts/usage-charts.tsx";
import { may, me } from "../../session.ts";
import { DraftBar } from "../../shell/draft-bar.tsx";
import { FormDialog } from "../../shell/form-dialog.tsx";
import { Refused } from "../../shell/refused.tsx";
import { peopleTexts } from "../../texts/people.ts";
import { usageTexts } from "../../texts/usage.ts";
import { useDraft } from "../../use-draft.ts";
import { useSending } from "../../use-sending.ts";
import { Grants } from "./grants.tsx";
import { GroupsField } from "./groups-field.tsx";
import { Invited } from "./invite.tsx";
import { RoleField } from "./role-field.tsx";

const texts = peopleTexts.drawer;

export function PersonDrawer({ user }: { readonly user: User }) {
  const own = user.uuid === me.value?.account?.uuid;
  const close = () => go({ page: "people", query: address.value.query });
  return (
    <Drawer title={user.email} onClose={close}>
      <div class="stack">
        <About user={user} />
        {user.invited && <InviteAgain user={user} />}
        {own && <p class="muted">{texts.self}</p>}
        <Rights user={user} locked={own} />
        <Reach user={user} />
        <UsageCharts filter={{ principal: user.uuid }} calls={{ principalName: user.email }} />
        <Grants of={user.uuid} />
        {may("audit.read") && (
          <p>
            <a href={hrefOf({ page: "audit", query: { principalName: user.email } })}>{texts.audit}</a>
          </p>
        )}
        {!own && <DisableOrDelete user={user} onRemoved={close} />}
      </div>
    </Drawer>
  );
}

/** What the person may use, and their keys. */
function Reach({ user: { uuid } }: { readonly user: User }) {
  const endpoints = useList("/users/:uuid/endpoints", { uuid }, CONFIG).value.value ?? [];
  const keys = useList("/api-keys", {}, { when: (event) => event.type === "admin" }).value.value ?? [];
  const { callers } = usageTexts;
  const own = keys.filter(({ owner }) => owner === uuid);
  return (
    <KeyValues
      items={[
        { key: callers.endpoints, value: <Links page="endpoints" to={endpoints} /> },
        { key: callers.keys, value: <Links page="keys" to={own} /> },
      ]}
    />
  );
}

function Links({ page, to }: ComponentProps<typeof ObjectLinks>) {
  if (to.length === 0) return <span class="muted">{usageTexts.callers.none}</span>;
  return <ObjectLinks page={page} to={to} />;
}

function InviteAgain({ user: { uuid, email } }: { readonly user: User }) {
  const invitation = useSignal<Invitation | undefined>(undefined);
  const sending = useSending();
  const invite = () =>
    sending.run(async () => {
      invitation.value = await send("POST /users/:uuid/invitation", undefined, { params: { uuid } });
    });
  return (
    <div class="line">
      <Button busy={sending.busy} onClick={() => void invite()}>
        {peopleTexts.invited.again}
      </Button>
      <Refused problem={sending.problem} />
      {invitation.value && (
        <Invited email={email} invitation={invitation.value} onClose={() => (invitation.value = undefined)} />
      )}
    </div>
  );
}

/** Disables the account, or deletes it. */
function DisableOrDelete({ user, onRemoved }: { readonly user: User; readonly onRemoved: () => void }) {
  const asking = useSignal<"disable" | "remove" | undefined>(undefined);
  const sending = useSending();
  const options = { params: { uuid: user.uuid } };
  const switchTo = (disabled: boolean) => send("PATCH /users/:uuid", { disabled }, options);
  const run = async (act: () => Promise<unknown>, message: string) => {
    const done = await sending.run(act);
    if (!done) return;
    asking.value = undefined;
    toast({ text: message });
    refresh("/users");
  };
  const confirmed = async () => {
    if (asking.value === "disable")
      return await run(() => switchTo(true), peopleTexts.disable.done(user.email));
    await run(async () => {
      await send("DELETE /users/:uuid", undefined, options);
      onRemoved();
    }, peopleTexts.remove.done(user.email));
  };
  return (
    <div class="line danger-end">
      {user.disabled ? (
        <Button onClick={() => void run(() => switchTo(false), texts.saved)}>{texts.enable}</Button>
      ) : (
        <Button kind="danger" onClick={() => (asking.value = "disable")}>
          {texts.disable}
        </Button>
      )}
      <Button kind="danger" onClick={() => (asking.value = "remove")}>
        {peopleTexts.remove.action}
      </Button>
      <Refused problem={asking.value ? undefined : sending.problem} />
      {asking.value && (
        <FormDialog
          title={peopleTexts[asking.value].title(user.email)}
          danger
          submit={asking.value === "remove" ? peopleTexts.remove.action : texts.disable}
          sending={sending}
          onSubmit={confirmed}
          onClose={() => (asking.value = undefined)}
        >
          <p>{peopleTexts[asking.value].text}</p>
        </FormDialog>
      )}
    </div>
  );
}

function About({ user: { uuid, identity, createdAt, updatedAt } }: { readonly user: User }) {
  const { columns, password, issuer } = peopleTexts;
  const logins = { kind: "login", principal: uuid, outcome: "ok", limit: 1 } as const;
  const found = useResource("/audit", may("audit.read") ? logins : undefined, {}).value.value;
  const last = found?.items[0];
  return (
    <KeyValues
      items={[
        {
          key: columns.login,
          value: identity ? <ForeignText text={issuer(identity.issuer ?? "")} /> : password,
        },
        ...(found
          ? [{ key: columns.lastLogin, value: last ? <Ago at={last.at} /> : peopleTexts.notInLog }]
          : []),
        { key: columns.created, value: <Ago at={createdAt} /> },
        { key: columns.changed, value: <Ago at={updatedAt} /> },
      ]}
    />
  );
}

interface RightsProps {
  readonly user: User;
  /** People cannot change their own role. */
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
      <GroupsField
        value={groups}
        error={sending.faultOf("/groups")}
        onInput={(value) => draft.set({ groups: value })}
      />
      <DraftBar draft={draft} sending={sending} save={texts.save} onSave={() => void save()} />
    </>
  );
}
