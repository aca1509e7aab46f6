/** Edits the settings of an endpoint, and deletes it. */
import { send } from "../../api/client.ts";
import type { Endpoint } from "../../api/types.ts";
import { SelectField } from "../../components/select-field.tsx";
import { SwitchField } from "../../components/switch-field.tsx";
import { TextField } from "../../components/text-field.tsx";
import { refresh } from "../../live/resource.ts";
import { go } from "../../navigate.ts";
import { LimitFields } from "../../parts/limit-fields.tsx";
import { DraftBar } from "../../shell/draft-bar.tsx";
import { RemoveObject } from "../../shell/remove-object.tsx";
import { endpointsTexts } from "../../texts/endpoints.ts";
import { shellTexts } from "../../texts/shell.ts";
import { useObjectDraft } from "../../use-object-draft.ts";
import { NamespacesField } from "./namespaces-field.tsx";
import { PinnedField } from "./pinned-field.tsx";

const texts = endpointsTexts.form;
const SWITCHES = ["code", "openapi", "stateless", "jsonResponse"] as const;

export function SettingsTab({ endpoint }: { readonly endpoint: Endpoint }) {
  const { draft, sending, save } = useObjectDraft("endpoints", endpoint);
  const { value, set } = draft;
  if (endpoint.managedBy !== "api") return <p>{shellTexts.managed(endpoint.managedBy)}</p>;
  return (
    <div class="stack">
      <TextField
        label={texts.name}
        hint={texts.nameHint(`/metamcp/${value.name}/mcp`)}
        required
        mono
        value={value.name}
        error={sending.faultOf("/name")}
        onInput={(name) => set({ name })}
      />
      <TextField
        label={texts.description}
        optional
        rows={2}
        value={value.description ?? ""}
        error={sending.faultOf("/description")}
        onInput={(description) => set({ description })}
      />
      <SurfaceField value={value.surface} onInput={(surface) => set({ surface })} />
      <NamespacesField value={value.namespaces} onInput={(namespaces) => set({ namespaces })} />
      {value.surface !== "aggregate" && (
        <PinnedField
          endpoint={endpoint.uuid}
          value={value.pinned ?? []}
          error={sending.faultOf("/pinned")}
          onInput={(pinned) => set({ pinned })}
        />
      )}
      {SWITCHES.map((name) => (
        <SwitchField
          key={name}
          label={texts[name]}
          value={value[name]}
          onInput={(on) => set({ [name]: on })}
        />
      ))}
      <LimitFields
        value={value.limits ?? {}}
        sending={sending}
        onInput={(limits) => set({ limits } as Partial<Endpoint>)}
      />
      <SwitchField
        label={texts.on}
        hint={texts.onHint}
        value={!value.disabled}
        onInput={(on) => set({ disabled: !on })}
      />
      <DraftBar draft={draft} sending={sending} save={texts.save} onSave={save} />
      <Remove endpoint={endpoint} />
    </div>
  );
}

interface SurfaceFieldProps {
  readonly value: Endpoint["surface"];
  readonly onInput: (surface: Endpoint["surface"]) => void;
}

export function SurfaceField({ value, onInput }: SurfaceFieldProps) {
  return (
    <SelectField
      label={texts.surface}
      value={value}
      options={Object.entries(endpointsTexts.surfaces).map(([name, label]) => ({ value: name, label }))}
      onInput={(surface) => onInput(surface as Endpoint["surface"])}
    />
  );
}

function Remove({ endpoint: { uuid, name } }: { readonly endpoint: Endpoint }) {
  const texts = endpointsTexts.remove;
  return (
    <RemoveObject
      name={name}
      texts={texts}
      remove={() => send("DELETE /endpoints/:uuid", undefined, { params: { uuid } })}
      onRemoved={() => {
        refresh("/endpoints");
        go({ page: "endpoints" });
      }}
    >
      <p>{texts.text}</p>
    </RemoveObject>
  );
}
