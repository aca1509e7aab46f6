/** Edits the rule of a namespace for a tool: on or off, name and texts, annotations, arguments. */
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
import { ArgumentFields } from "./argument-fields.tsx";
import type { NamespaceColumn } from "./namespace-column.ts";
import { overrideOf, toArguments, toDraft } from "./override.ts";
import { keyOf, type ToolTableRow } from "./tool-row.ts";

const texts = toolsTexts.override;

interface OverrideTabProps {
  readonly row: ToolTableRow;
  readonly table: ToolTable;
}

export function OverrideTab({ row, table }: OverrideTabProps) {
  const { namespace: requested } = address.value.query;
  const namespaces = table.namespaces.flatMap(({ uuid, name, managedBy }, at) =>
    row.tool.in[at] === undefined ? [] : [{ at: String(at), uuid, name, managed: managedBy !== "api" }],
  );
  const namespace = namespaces.find(({ uuid }) => uuid === requested) ?? namespaces[0];
  if (!namespace) return <p>{texts.none}</p>;
  return (
    <div class="stack">
      <SelectField
        label={texts.namespace}
        value={namespace.uuid}
        options={namespaces.map(({ uuid, name }) => ({ value: uuid, label: name }))}
        onInput={(uuid) => setQuery({ namespace: uuid })}
      />
      {namespace.managed ? (
        <p>{shellTexts.managed(table.namespaces[Number(namespace.at)]?.managedBy ?? "")}</p>
      ) : (
        <OverrideForm key={namespace.uuid} row={row} namespace={namespace} />
      )}
    </div>
  );
}

function OverrideForm({
  row: { tool },
  namespace,
}: {
  readonly row: ToolTableRow;
  readonly namespace: NamespaceColumn;
}) {
  const draft = useDraft(`tools ${namespace.uuid} ${keyOf(tool)}`, toDraft(overrideOf(tool, namespace.at)));
  const sending = useSending();
  const { name, title, description, annotations, disabled, args } = draft.value;
  const { set } = draft;
  const store = async (rule: object) => {
    const body = { set: [{ server: tool.server, tool: tool.tool, ...rule }] };
    const done = await sending.run(() =>
      send("POST /namespaces/:uuid/tools", body, { params: { uuid: namespace.uuid } }),
    );
    refresh("/tools");
    if (!done) return;
    draft.clear();
    await toastWithUndo(shellTexts.draft.saved(tool.tool));
  };
  const argumentRules = toArguments(args);
  const save = () =>
    store({
      reset: true,
      ...(disabled && { disabled }),
      ...(name && { name }),
      ...(title && { title }),
      ...(description && { description }),
      ...(Object.keys(annotations).length > 0 && { annotations }),
      ...(argumentRules && Object.keys(argumentRules).length > 0 && { args: argumentRules }),
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
      <DraftBar draft={draft} sending={sending} save={texts.save} onSave={save} invalid={!argumentRules}>
        <span class="push">
          <Button onClick={() => void store({ reset: true })}>{texts.reset}</Button>
        </span>
      </DraftBar>
    </>
  );
}

/** Edits the annotations with which a namespace overrides those of the server. */
const HINTS = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] as const;

type Annotations = Readonly<Record<string, unknown>>;

interface AnnotationFieldsProps {
  readonly value: Annotations;
  readonly onInput: (value: Annotations) => void;
}

function AnnotationFields({ value, onInput }: AnnotationFieldsProps) {
  const set = (hint: string, chosen: string) => {
    const { [hint]: _, ...rest } = value;
    onInput(chosen === "" ? rest : { ...rest, [hint]: chosen === "true" });
  };
  return (
    <fieldset class="stack-small">
      <legend class="field-label">{texts.annotations}</legend>
      <p class="field-hint">{texts.annotationsHint}</p>
      {HINTS.map((hint) => (
        <SelectField
          key={hint}
          label={texts.hints[hint]}
          none={texts.hint.unset}
          value={value[hint] === undefined ? "" : `${value[hint] === true}`}
          options={[
            { value: "true", label: texts.hint.true },
            { value: "false", label: texts.hint.false },
          ]}
          onInput={(chosen) => set(hint, chosen)}
        />
      ))}
    </fieldset>
  );
}
