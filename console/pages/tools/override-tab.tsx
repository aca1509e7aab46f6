/** What one namespace makes of a tool: on or off, its name and texts, annotations, arguments. */
import { send } from "../../api/client.ts";
import type { ToolTable } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { SelectField } from "../../components/select-field.tsx";
import { SwitchField } from "../../components/switch-field.tsx";
import { TextField } from "../../components/text-field.tsx";
import { refresh } from "../../live/resource.ts";
import { address, setQuery } from "../../navigate.ts";
import { DraftBar } from "../../shell/draft-bar.tsx";
import { shellTexts } from "../../texts/shell.ts";
import { toolsTexts } from "../../texts/tools.ts";
import { toastWithUndo } from "../../undo.ts";
import { useDraft } from "../../use-draft.ts";
import { useSending } from "../../use-sending.ts";
import { AnnotationFields } from "./annotation-fields.tsx";
import { ArgumentFields } from "./argument-fields.tsx";
import { argumentsIn, editedOverride, overrideOf } from "./override.ts";
import type { Place } from "./place.ts";
import { keyOf, type ToolRowIn } from "./tool-row.ts";

const texts = toolsTexts.override;

interface OverrideTabProps {
  readonly row: ToolRowIn;
  readonly table: ToolTable;
}

export function OverrideTab({ row, table }: OverrideTabProps) {
  const { namespace } = address.value.query;
  const places = table.namespaces.flatMap(({ uuid, name, managedBy }, at) =>
    row.tool.in[at] === undefined ? [] : [{ at: String(at), uuid, name, managed: managedBy !== "api" }],
  );
  const place = places.find(({ uuid }) => uuid === namespace) ?? places[0];
  if (!place) return <p>{texts.none}</p>;
  return (
    <div class="stack">
      <SelectField
        label={texts.namespace}
        value={place.uuid}
        options={places.map(({ uuid, name }) => ({ value: uuid, label: name }))}
        onInput={(uuid) => setQuery({ namespace: uuid })}
      />
      {place.managed ? (
        <p>{shellTexts.managed(table.namespaces[Number(place.at)]?.managedBy ?? "")}</p>
      ) : (
        <OverrideForm key={place.uuid} row={row} place={place} />
      )}
    </div>
  );
}

function OverrideForm({ row: { tool }, place }: { readonly row: ToolRowIn; readonly place: Place }) {
  const draft = useDraft(`tools ${place.uuid} ${keyOf(tool)}`, editedOverride(overrideOf(tool, place.at)));
  const sending = useSending();
  const { name, title, description, annotations, disabled, args } = draft.value;
  const { set } = draft;
  const store = async (rule: object) => {
    const body = { set: [{ server: tool.server, tool: tool.tool, ...rule }] };
    const done = await sending.run(() =>
      send("POST /namespaces/:uuid/tools", body, { params: { uuid: place.uuid } }),
    );
    refresh("/tools");
    if (!done) return;
    draft.clear();
    await toastWithUndo(shellTexts.draft.saved(tool.tool));
  };
  const sent = argumentsIn(args);
  const save = () =>
    store({
      reset: true,
      ...(disabled && { disabled }),
      ...(name && { name }),
      ...(title && { title }),
      ...(description && { description }),
      ...(Object.keys(annotations).length > 0 && { annotations }),
      ...(sent && Object.keys(sent).length > 0 && { args: sent }),
    });
  return (
    <>
      <SwitchField label={texts.on} value={!disabled} onInput={(on) => set({ disabled: !on })} />
      <TextField
        label={texts.name}
        hint={texts.nameHint}
        optional
        mono
        placeholder={tool.tool}
        value={name}
        error={sending.faultOf("/set/0/name")}
        onInput={(text) => set({ name: text })}
      />
      <TextField
        label={texts.title}
        optional
        placeholder={tool.title ?? ""}
        value={title}
        onInput={(text) => set({ title: text })}
      />
      <TextField
        label={texts.description}
        hint={texts.descriptionHint}
        optional
        rows={3}
        placeholder={tool.description ?? ""}
        value={description}
        onInput={(text) => set({ description: text })}
      />
      <ArgumentFields tool={tool} value={args} onInput={(value) => set({ args: value })} />
      <AnnotationFields value={annotations} onInput={(value) => set({ annotations: value })} />
      <DraftBar draft={draft} sending={sending} save={texts.save} onSave={save} invalid={!sent}>
        <span class="push">
          <Button onClick={() => void store({ reset: true })}>{texts.reset}</Button>
        </span>
      </DraftBar>
    </>
  );
}
