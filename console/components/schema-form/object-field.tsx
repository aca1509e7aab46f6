/** The field of an object: its members, and rows for additional ones if the schema allows them. */
import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import { componentTexts } from "../../texts/components.ts";
import { Button } from "../button.tsx";
import { FieldError, FieldMark } from "../field-frame.tsx";
import { isMap, withMember } from "./draft.ts";
import { EntryRows } from "./entry-rows.tsx";
import { errorAt, type FieldContext, labelOf, type NodeProps } from "./field-props.ts";
import type { FormNode } from "./form-node.ts";
import { hintOf } from "./hint.tsx";
import { startDraft } from "./start-draft.ts";

const texts = componentTexts.form;

export function ObjectField(props: NodeProps<"object">) {
  const { node, draft, onInput } = props;
  return (
    <Group
      {...props}
      node={node}
      given={draft !== undefined}
      onAdd={() =>
        onInput(startDraft({ properties: asProperties(node), required: requiredOf(node) }, props.form.root))
      }
    >
      <Members {...props} />
    </Group>
  );
}

/** The members without a frame, for the root of the form. */
export function Members(props: NodeProps<"object">) {
  const { form, node, draft, onInput, path } = props;
  const values = isMap(draft) ? draft : new Map();
  return (
    <>
      {node.members.map(({ name, schema, required }) => (
        <form.Field
          key={name}
          form={form}
          path={[...path, name]}
          name={name}
          schema={schema}
          required={required}
          draft={values.get(name)}
          onInput={(value) => onInput(withMember(draft, name, value))}
        />
      ))}
      {node.additional !== undefined && <EntryRows {...props} />}
    </>
  );
}

function asProperties(node: NodeProps<"object">["node"]) {
  return Object.fromEntries(node.members.map(({ name, schema }) => [name, schema]));
}

function requiredOf(node: NodeProps<"object">["node"]) {
  return node.members.filter(({ required }) => required).map(({ name }) => name);
}

export interface GroupProps extends FieldContext {
  readonly node: FormNode;
  /** A value exists. Otherwise only the name and an add button are shown. */
  readonly given: boolean;
  readonly onAdd: () => void;
  readonly children: ComponentChildren;
}

/** A frame around fields that belong together. */
export function Group(props: GroupProps) {
  const {
    given,
    onAdd,
    children,
    required,
    onInput,
    onRemove = required ? undefined : () => onInput(undefined),
  } = props;
  const id = useId();
  const label = labelOf(props);
  const error = errorAt(props);
  const hint = hintOf(props, !given);
  return (
    <fieldset
      class={props.bare ? "form-bare" : "form-group"}
      aria-label={label}
      aria-describedby={error ? `${id}-error` : undefined}
    >
      {!props.bare && (
        <div class="form-head">
          <span class="field-label mono" aria-hidden="true">
            {label}
            <FieldMark required={required && !props.onRemove} optional={false} />
          </span>
          {!given && (
            <Button size="small" label={texts.add(label)} onClick={onAdd}>
              {texts.addShort}
            </Button>
          )}
          {given && onRemove && (
            <Button size="small" kind="quiet" label={texts.removeNamed(label)} onClick={onRemove}>
              {texts.remove}
            </Button>
          )}
        </div>
      )}
      {hint && <div class="field-hint">{hint}</div>}
      {error && <FieldError id={`${id}-error`} text={error} />}
      {given ? (
        <div class="form-members">{children}</div>
      ) : (
        props.bare && (
          <div>
            <Button size="small" onClick={onAdd}>
              {texts.add(label)}
            </Button>
          </div>
        )
      )}
    </fieldset>
  );
}
