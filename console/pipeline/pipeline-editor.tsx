/** Edits a pipeline: a list of layers in order, each with a form generated from the schema of its options. */
import { useSignal } from "@preact/signals";
import type { LayerKind } from "../api/types.ts";
import { Button } from "../components/button.tsx";
import { ForeignText } from "../components/foreign-text.tsx";
import { checkForm, type FormValue, formJson, SchemaForm, startForm } from "../components/schema-form.tsx";
import { SelectField } from "../components/select-field.tsx";
import { useResource } from "../live/resource.ts";
import { may } from "../session.ts";
import { Ready } from "../shell/ready.tsx";
import { pipelineTexts as texts } from "../texts/pipeline.ts";
import { shellTexts } from "../texts/shell.ts";
import type { LayerEntry, Place } from "./layer-entry.ts";
import { summaryOf } from "./layer-summary.ts";
import { PolicyEditor } from "./policy/policy-editor.tsx";
import { TestLine } from "./policy/test-line.tsx";
import "./pipeline.css";

interface PipelineEditorProps {
  readonly place: Place;
  readonly value: readonly LayerEntry[];
  readonly onInput: (value: LayerEntry[]) => void;
  /** The gateway's error for a JSON Pointer relative to the list: `/0/rules`. */
  readonly faultOf: (path: string) => string | undefined;
  /** Only shows what the layers do. */
  readonly readOnly?: boolean;
}

export function PipelineEditor({ place, value, onInput, faultOf, readOnly = false }: PipelineEditorProps) {
  const kinds = useResource("/layers", {}, {});
  const open = useSignal<number | undefined>(undefined);
  const move = (at: number, by: number) => {
    const next = [...value];
    const [one] = next.splice(at, 1);
    if (one) next.splice(at + by, 0, one);
    open.value = open.value === at ? at + by : undefined;
    onInput(next);
  };
  return (
    <Ready of={kinds}>
      {({ items }) => (
        <div class="stack">
          <p class="muted">{value.length === 0 ? texts.none : texts.text}</p>
          <ol class="pipeline">
            {value.map((entry, at) => (
              <Layer
                key={`${at} ${entry.use}`}
                entry={entry}
                position={{ at, last: at === value.length - 1, fault: faultOf(`/${at}`) }}
                kind={items.find(({ use }) => use === entry.use)}
                open={open.value === at}
                onOpen={() => (open.value = open.value === at ? undefined : at)}
                onMove={(by) => move(at, by)}
                onInput={(one) => onInput(value.map((other, index) => (index === at ? one : other)))}
                onRemove={() => onInput(value.filter((_, index) => index !== at))}
                place={place}
                summary={summaryOf(entry)}
                readOnly={readOnly}
              />
            ))}
          </ol>
          {!readOnly && may("layers.guarded") && value.some(({ use }) => use === "policy") && (
            <TestLine place={place} middleware={value} />
          )}
          {!readOnly && (
            <SelectField
              label={texts.add}
              labelHidden
              none={texts.add}
              value=""
              options={items
                .filter(mayChange)
                .map(({ use, summary }) => ({ value: use, label: summary ? `${use}: ${summary}` : use }))}
              onInput={(use) => {
                if (!use) return;
                open.value = value.length;
                onInput([...value, use === "policy" ? { use, default: "allow", rules: [] } : { use }]);
              }}
            />
          )}
        </div>
      )}
    </Ready>
  );
}

interface LayerProps {
  readonly entry: LayerEntry;
  readonly position: { readonly at: number; readonly last: boolean; readonly fault: string | undefined };
  readonly kind: LayerKind | undefined;
  readonly open: boolean;
  readonly onOpen: () => void;
  readonly onMove: (by: 1 | -1) => void;
  readonly onInput: (entry: LayerEntry) => void;
  readonly onRemove: () => void;
  readonly place: Place;
  /** What this layer does, rather than its kind. */
  readonly summary: string | undefined;
  readonly readOnly: boolean;
}

function Layer({
  entry,
  position: { at, last, fault },
  kind,
  open,
  onOpen,
  onMove,
  onInput,
  onRemove,
  place,
  summary,
  readOnly,
}: LayerProps) {
  const { use } = entry;
  const changeable = !readOnly && kind !== undefined && mayChange(kind);
  const { up, down, remove, take } = shellTexts.order;
  const toggle = open ? texts.close : texts.open;
  return (
    <li class="panel pipeline-layer" aria-label={texts.layer(at + 1, use)}>
      <div class="line">
        <strong class="mono">{use}</strong>
        <span class="muted pipeline-summary">
          <ForeignText text={summary ?? kind?.summary ?? ""} />
          {!changeable && !readOnly && ` ${texts.guarded}`}
        </span>
        {changeable && (
          <span class="push line">
            <Button size="small" disabled={at === 0} label={up(use)} onClick={() => onMove(-1)}>
              ↑
            </Button>
            <Button size="small" disabled={last} label={down(use)} onClick={() => onMove(1)}>
              ↓
            </Button>
            <Button size="small" label={`${toggle} ${use}`} onClick={onOpen}>
              {toggle}
            </Button>
            <Button size="small" label={remove(use)} onClick={onRemove}>
              {take}
            </Button>
          </span>
        )}
      </div>
      {fault && <p class="field-error">{fault}</p>}
      {use === "policy" && (
        <PolicyEditor entry={entry} place={place} editable={changeable && open} onInput={onInput} />
      )}
      {open && changeable && use !== "policy" && (
        <Options schema={optionsOf(kind)} entry={entry} onInput={onInput} />
      )}
    </li>
  );
}

interface OptionsProps {
  readonly schema: unknown;
  readonly entry: LayerEntry;
  readonly onInput: (entry: LayerEntry) => void;
}

function Options({ schema, entry: { use, ...options }, onInput }: OptionsProps) {
  const form = useSignal<FormValue>(startForm(schema, JSON.stringify(options)));
  return (
    <SchemaForm
      schema={schema}
      value={form.value}
      problems={checkForm(schema, form.value)}
      onInput={(value) => {
        form.value = value;
        const json = formJson(value);
        if (json !== undefined) onInput({ ...(JSON.parse(json) as object), use });
      }}
    />
  );
}

/** Only administrators may change layers that guard access. */
function mayChange({ guards }: LayerKind): boolean {
  return !guards || may("layers.guarded");
}

/** Returns the schema without `use`, which names the layer and is not an option. */
function optionsOf({ schema }: LayerKind): unknown {
  const {
    properties = {},
    required = [],
    ...rest
  } = schema as {
    readonly properties?: Readonly<Record<string, unknown>>;
    readonly required?: readonly string[];
  };
  const { use: _, ...options } = properties;
  return { ...rest, properties: options, required: required.filter((name) => name !== "use") };
}
