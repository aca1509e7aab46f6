/** Name, description and what happens to new tools; deletes the namespace. */
import { useSignal } from "@preact/signals";
import { send } from "../../api/client.ts";
import type { Endpoint, Namespace } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { SelectField } from "../../components/select-field.tsx";
import { TextField } from "../../components/text-field.tsx";
import { toast } from "../../components/toasts.tsx";
import { refresh } from "../../live/resource.ts";
import { go } from "../../navigate.ts";
import { Confirm } from "../../shell/confirm.tsx";
import { DraftBar } from "../../shell/draft-bar.tsx";
import { namespacesTexts } from "../../texts/namespaces.ts";
import { useSending } from "../../use-sending.ts";
import { useNamespaceDraft } from "./use-namespace-draft.ts";

const texts = namespacesTexts.form;

interface SettingsTabProps {
  readonly namespace: Namespace;
  readonly users: readonly Endpoint[];
}

export function SettingsTab({ namespace, users }: SettingsTabProps) {
  const { draft, sending, save } = useNamespaceDraft(namespace);
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
      <Remove namespace={namespace} users={users} />
    </div>
  );
}

function Remove({ namespace: { uuid, name }, users }: SettingsTabProps) {
  const asking = useSignal(false);
  const sending = useSending();
  const { action, title, text, used, done } = namespacesTexts.remove;
  const remove = async () => {
    // The dialog says what it is taken out of.
    const params = { uuid, ...(users.length > 0 && { force: true }) };
    if (!(await sending.run(() => send("DELETE /namespaces/:uuid", undefined, { params })))) return;
    toast({ text: done(name) });
    refresh("/namespaces");
    go({ page: "namespaces" });
  };
  return (
    <div class="line danger-end">
      <Button kind="danger" onClick={() => (asking.value = true)}>
        {action}
      </Button>
      {asking.value && (
        <Confirm
          title={title(name)}
          action={action}
          sending={sending}
          onConfirm={() => void remove()}
          onClose={() => (asking.value = false)}
        >
          <p>{text}</p>
          {users.length > 0 && <p>{used(users.map((endpoint) => endpoint.name).join(", "))}</p>}
        </Confirm>
      )}
    </div>
  );
}
