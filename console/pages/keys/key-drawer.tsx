/** The drawer of an API key: its access and use, a form to rename it, and revocation. */
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
import { ObjectLinks } from "../../parts/object-links.tsx";
import { UsageCharts } from "../../parts/usage-charts.tsx";
import { may } from "../../session.ts";
import { DraftBar } from "../../shell/draft-bar.tsx";
import { FormDialog } from "../../shell/form-dialog.tsx";
import { keysTexts as texts } from "../../texts/keys.ts";
import { useDraft } from "../../use-draft.ts";
import { useSending } from "../../use-sending.ts";
import type { KeyRow } from "./key-row.ts";
import { RotateKey } from "./rotate-key.tsx";

export function KeyDrawer({ row: { key, access, endpoints, owner } }: { readonly row: KeyRow }) {
  const revoking = useSignal(false);
  const rotating = useSignal(false);
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
  const { columns, machine } = texts;
  const { jwks, jwksUri } = key.machine ?? {};
  const signs = jwks !== undefined || jwksUri !== undefined;
  return (
    <Drawer
      title={key.name}
      onClose={close}
      actions={
        may("keys.write") && (
          <>
            {!signs && <Button onClick={() => (rotating.value = true)}>{texts.rotate.action}</Button>}
            <Button kind="danger" onClick={() => (revoking.value = true)}>
              {texts.revoke.action}
            </Button>
          </>
        )
      }
    >
      <div class="stack">
        <KeyValues
          items={[
            {
              key: columns.access,
              value:
                endpoints.length > 0 && !key.machine ? (
                  <ObjectLinks page="endpoints" to={endpoints} />
                ) : (
                  <ForeignText text={access} />
                ),
            },
            ...(key.tiers
              ? [{ key: texts.form.tiers, value: key.tiers.map((tier) => texts.tiers[tier]).join(", ") }]
              : []),
            {
              key: columns.owner,
              value: key.owner ? (
                <ObjectLinks page="people" to={[{ uuid: key.owner, name: owner }]} />
              ) : (
                owner
              ),
            },
            ...(key.machine ? [{ key: machine.clientId, value: key.uuid, mono: true }] : []),
            ...(signs
              ? [{ key: machine.keys, value: jwksUri ?? keyIdsOf(jwks?.keys ?? []), mono: true }]
              : [{ key: columns.prefix, value: `${key.prefix}…`, mono: true }]),
            { key: columns.created, value: <Ago at={key.createdAt} /> },
            ...(key.rotatedAt ? [{ key: texts.rotate.rotated, value: <Ago at={key.rotatedAt} /> }] : []),
            ...(key.overlapUntil && Date.parse(key.overlapUntil) > Date.now()
              ? [{ key: texts.rotate.until, value: <Ago at={key.overlapUntil} /> }]
              : []),
            { key: columns.lastUsed, value: key.lastUsedAt ? <Ago at={key.lastUsedAt} /> : texts.never },
            { key: columns.expires, value: key.expiresAt ? <Ago at={key.expiresAt} /> : texts.never },
          ]}
        />
        {may("stats.read") && <UsageCharts filter={{ key: key.uuid }} calls={{ key: key.uuid }} />}
        {may("audit.read") && (
          <p>
            <a href={hrefOf({ page: "audit", query: { key: key.uuid } })}>{texts.drawer.calls}</a>
          </p>
        )}
        {may("keys.write") && <Rename row={key} />}
      </div>
      {rotating.value && <RotateKey of={key} onClose={() => (rotating.value = false)} />}
      {revoking.value && (
        <FormDialog
          title={texts.revoke.title(key.name)}
          danger
          submit={texts.revoke.action}
          sending={sending}
          onSubmit={() => void revoke()}
          onClose={() => (revoking.value = false)}
        >
          <p>{texts.revoke.text}</p>
        </FormDialog>
      )}
    </Drawer>
  );
}

function keyIdsOf(keys: readonly { readonly kid?: string | undefined; readonly kty: string }[]): string {
  return keys.map(({ kid, kty }) => kid ?? kty).join(", ");
}

function Rename({ row }: { readonly row: KeyRow["key"] }) {
  const draft = useDraft(`keys ${row.uuid}`, row);
  const sending = useSending();
  const { name, description } = draft.value;
  const save = async () => {
    const body = draft.patch as { readonly name?: string; readonly description?: string };
    const done = await sending.run(() => send("PATCH /api-keys/:uuid", body, { params: { uuid: row.uuid } }));
    if (!done) return;
    draft.clear();
    toast({ text: texts.drawer.saved });
    refresh("/api-keys");
  };
  return (
    <>
      <TextField
        label={texts.drawer.name}
        required
        value={name}
        error={sending.faultOf("/name")}
        onInput={(value) => draft.set({ name: value })}
      />
      <TextField
        label={texts.drawer.description}
        optional
        rows={2}
        value={description ?? ""}
        error={sending.faultOf("/description")}
        onInput={(value) => draft.set({ description: value })}
      />
      <DraftBar draft={draft} sending={sending} save={texts.drawer.save} onSave={() => void save()} />
    </>
  );
}
