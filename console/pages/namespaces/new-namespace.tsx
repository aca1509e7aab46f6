/** The dialog that creates a namespace of existing servers. */
import { useSignal } from "@preact/signals";
import { send } from "../../api/client.ts";
import { SwitchField } from "../../components/switch-field.tsx";
import { TextField } from "../../components/text-field.tsx";
import { CONFIG, refresh, useList } from "../../live/resource.ts";
import { go } from "../../navigate.ts";
import { FormDialog } from "../../shell/form-dialog.tsx";
import { namespacesTexts } from "../../texts/namespaces.ts";
import { useSending } from "../../use-sending.ts";

const texts = namespacesTexts.form;
const SEARCHED_FROM = 12;

export function NewNamespace({ onClose }: { readonly onClose: () => void }) {
  const name = useSignal("");
  const description = useSignal("");
  const chosen = useSignal<readonly string[]>([]);
  const q = useSignal("");
  const all = useList("/mcp-servers", {}, CONFIG).value.value ?? [];
  const found = all
    .filter(
      (one) => chosen.value.includes(one.uuid) || one.name.toLowerCase().includes(q.value.toLowerCase()),
    )
    .sort((a, b) => a.name.localeCompare(b.name));
  const sending = useSending();
  const create = () =>
    sending.run(async () => {
      const { uuid } = await send("POST /namespaces", {
        name: name.value,
        ...(description.value && { description: description.value }),
        servers: chosen.value.map((server) => ({ server })),
      });
      refresh("/namespaces");
      go({ page: "namespaces", id: uuid });
    });
  return (
    <FormDialog
      title={texts.title}
      submit={texts.create}
      sending={sending}
      onSubmit={create}
      onClose={onClose}
    >
      <TextField
        label={texts.name}
        required
        autofocus
        value={name.value}
        error={sending.faultOf("/name")}
        onInput={(text) => (name.value = text)}
      />
      <TextField
        label={texts.description}
        hint={texts.descriptionHint}
        optional
        rows={2}
        value={description.value}
        error={sending.faultOf("/description")}
        onInput={(text) => (description.value = text)}
      />
      <fieldset class="stack-small">
        <legend class="field-label">{namespacesTexts.tabs.servers}</legend>
        {all.length > SEARCHED_FROM && (
          <TextField
            label={texts.search}
            type="search"
            value={q.value}
            onInput={(text) => (q.value = text)}
          />
        )}
        {found.map(({ uuid, name: serverName }) => (
          <SwitchField
            key={uuid}
            label={serverName}
            value={chosen.value.includes(uuid)}
            onInput={(on) => {
              chosen.value = on ? [...chosen.value, uuid] : chosen.value.filter((one) => one !== uuid);
            }}
          />
        ))}
      </fieldset>
    </FormDialog>
  );
}
