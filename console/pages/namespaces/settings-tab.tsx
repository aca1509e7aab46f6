/** Edits the settings of a namespace, and deletes it. */
import { send } from "../../api/client.ts";
import type { Endpoint, Namespace } from "../../api/types.ts";
import { SelectField } from "../../components/select-field.tsx";
import { TextField } from "../../components/text-field.tsx";
import { refresh } from "../../live/resource.ts";
import { go } from "../../navigate.ts";
import { DraftBar } from "../../shell/draft-bar.tsx";
import { RemoveObject } from "../../shell/remove-object.tsx";
import { namespacesTexts } from "../../texts/namespaces.ts";
import { useObjectDraft } from "../../use-object-draft.ts";

const texts = namespacesTexts.form;

interface SettingsTabProps {
  readonly namespace: Namespace;
  readonly endpoints: readonly Endpoint[];
}

export function SettingsTab({ namespace, endpoints }: SettingsTabProps) {
  const { draft, sending, save } = useObjectDraft("namespaces", namespace);
  const { value, set } = draft;
  return (
    <div class="stack">
      <TextField
        label={texts.name}
        required
        value={value.name}
        error={sending.faultOf("/name")}
        onInput={(name) => set({ name })}
      />
      <TextField
        label={texts.description}
        hint={texts.descriptionHint}
        optional
        rows={3}
        value={value.description ?? ""}
        error={sending.faultOf("/description")}
        onInput={(description) => set({ description })}
      />
      <SelectField
        label={texts.newTools}
        value={value.newTools}
        options={Object.entries(texts.newToolsChoices).map(([name, label]) => ({ value: name, label }))}
        onInput={(newTools) => set({ newTools: newTools as Namespace["newTools"] })}
      />
      <DraftBar draft={draft} sending={sending} save={texts.save} onSave={save} />
      <Remove namespace={namespace} endpoints={endpoints} />
    </div>
  );
}

function Remove({ namespace: { uuid, name }, endpoints }: SettingsTabProps) {
  const texts = namespacesTexts.remove;
  // Without `force` the gateway refuses to delete a namespace in use. The dialog lists the endpoints.
  const params = { uuid, ...(endpoints.length > 0 && { force: true }) };
  return (
    <RemoveObject
      name={name}
      texts={texts}
      remove={() => send("DELETE /namespaces/:uuid", undefined, { params })}
      onRemoved={() => {
        refresh("/namespaces");
        go({ page: "namespaces" });
      }}
    >
      <p>{texts.text}</p>
      {endpoints.length > 0 && <p>{texts.used(endpoints.map((endpoint) => endpoint.name).join(", "))}</p>}
    </RemoveObject>
  );
}
