/** One API key: what it opens, when it was used; rename it or revoke it. */
import { useSignal } from "@preact/signals";
import { hrefOf } from "../../address.ts";
import { Ago } from "../../ago.tsx";
import { send } from "../../api/client.ts";
import { Button } from "../../components/button.tsx";
import { Drawer } from "../../components/drawer.tsx";
import { ForeignText } from "../../components/foreign-text.tsx";
import { KeyValues } from "../../components/key-values.tsx";
import { TextField } from "../../components/text-field.tsx";
import { toast } from "../../components/toasts.tsx";
import { refresh } from "../../live/resource.ts";
import { address, go } from "../../navigate.ts";
import { may } from "../../session.ts";
import { Confirm } from "../../shell/confirm.tsx";
import { Refused } from "../../shell/refused.tsx";
import { keysTexts as texts } from "../../texts/keys.ts";
import { useSending } from "../../use-sending.ts";
import type { KeyRow } from "./key-row.ts";

export function KeyDrawer({ row: { key, opens, owner } }: { readonly row: KeyRow }) {
  const revoking = useSignal(false);
  const sending = useSending();
  const close = () => go({ page: "keys", query: address.value.query });
  const revoke = async () => {
    const done = await sending.run(() =>
      send("DELETE /api-keys/:uuid", undefined, { params: { uuid: key.uuid } }),
    );
    if (!done) return;
    toast({ text: texts.revoke.done(key.name) });
    refresh("/api-keys");
    close();
  };
  const { columns } = texts;
  return (
    <Drawer
      title={key.name}
      onClose={close}
      actions={
        may("keys.write") && (
          <Button kind="danger" onClick={() => (revoking.value = true)}>
            {texts.revoke.action}
          </Button>
        )
      }
    >
      <div class="stack">
        <KeyValues
          items={[
            { key: columns.opens, value: <ForeignText text={opens} /> },
            ...(key.tiers
              ? [{ key: texts.form.tiers, value: key.tiers.map((tier) => texts.tiers[tier]).join(", ") }]
              : []),
            { key: columns.owner, value: <ForeignText text={owner} /> },
            { key: columns.prefix, value: `${key.prefix}…`, mono: true },
            { key: columns.created, value: <Ago at={key.createdAt} /> },
            { key: columns.lastUsed, value: key.lastUsedAt ? <Ago at={key.lastUsedAt} /> : texts.never },
            { key: columns.expires, value: key.expiresAt ? <Ago at={key.expiresAt} /> : texts.never },
          ]}
        />
        {may("audit.read") && (
          <p>
            <a href={hrefOf({ page: "audit", query: { key: key.uuid } })}>{texts.drawer.calls}</a>
          </p>
        )}
        {may("keys.write") && <Rename row={key} />}
      </div>
      {revoking.value && (
        <Confirm
          title={texts.revoke.title(key.name)}
          action={texts.revoke.action}
          sending={sending}
          onConfirm={() => void revoke()}
          onClose={() => (revoking.value = false)}
        >
          <p>{texts.revoke.text}</p>
        </Confirm>
      )}
    </Drawer>
  );
}

function Rename({ row }: { readonly row: KeyRow["key"] }) {
  const name = useSignal(row.name);
  const description = useSignal(row.description ?? "");
  const sending = useSending();
  const save = async () => {
    const body = { name: name.value, description: description.value };
    const done = await sending.run(() => send("PATCH /api-keys/:uuid", body, { params: { uuid: row.uuid } }));
    if (!done) return;
    toast({ text: texts.drawer.saved });
    refresh("/api-keys");
  };
  const changed = name.value !== row.name || description.value !== (row.description ?? "");
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <TextField
        label={texts.drawer.name}
        required
        value={name.value}
        error={sending.faultOf("/name")}
        onInput={(value) => (name.value = value)}
      />
      <TextField
        label={texts.drawer.description}
        optional
        rows={2}
        value={description.value}
        error={sending.faultOf("/description")}
        onInput={(value) => (description.value = value)}
      />
      <Refused problem={sending.problem} />
      <div class="line">
        <Button type="submit" busy={sending.busy} disabled={!changed}>
          {texts.drawer.save}
        </Button>
      </div>
    </form>
  );
}
