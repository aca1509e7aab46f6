/** Edits the ordered list of namespaces of an endpoint. */
import { Button } from "../../components/button.tsx";
import { FieldError } from "../../components/field-frame.tsx";
import { ForeignText } from "../../components/foreign-text.tsx";
import { SelectField } from "../../components/select-field.tsx";
import { CONFIG, useList } from "../../live/resource.ts";
import { endpointsTexts } from "../../texts/endpoints.ts";
import { shellTexts } from "../../texts/shell.ts";

const texts = endpointsTexts.form;

interface NamespacesFieldProps {
  readonly value: readonly string[];
  readonly onInput: (value: string[]) => void;
  readonly error?: string | undefined;
}

export function NamespacesField({ value, onInput, error }: NamespacesFieldProps) {
  const all = useList("/namespaces", {}, CONFIG).value.value ?? [];
  const nameOf = (uuid: string) => all.find((one) => one.uuid === uuid)?.name ?? uuid;
  const left = all.filter(({ uuid }) => !value.includes(uuid));
  const move = (at: number, by: number) => {
    const next = [...value];
    const [one] = next.splice(at, 1);
    if (one !== undefined) next.splice(at + by, 0, one);
    onInput(next);
  };
  const { up, down, remove, add } = shellTexts.order;
  return (
    <fieldset class="stack-small">
      <legend class="field-label">{texts.namespaces}</legend>
      <p class="field-hint">{all.length === 0 ? texts.noNamespaces : texts.namespacesHint}</p>
      {value.map((uuid, at) => (
        <div key={uuid} class="line">
          <code class="namespace-name">
            <ForeignText text={nameOf(uuid)} />
          </code>
          <span class="push line">
            <Button size="small" disabled={at === 0} label={up(nameOf(uuid))} onClick={() => move(at, -1)}>
              ↑
            </Button>
            <Button
              size="small"
              disabled={at === value.length - 1}
              label={down(nameOf(uuid))}
              onClick={() => move(at, 1)}
            >
              ↓
            </Button>
            <Button
              size="small"
              label={remove(nameOf(uuid))}
              onClick={() => onInput(value.filter((one) => one !== uuid))}
            >
              {shellTexts.order.take}
            </Button>
          </span>
        </div>
      ))}
      {left.length > 0 && (
        <SelectField
          label={add}
          labelHidden
          none={add}
          value=""
          options={left.map(({ uuid, name }) => ({ value: uuid, label: name }))}
          onInput={(uuid) => uuid && onInput([...value, uuid])}
        />
      )}
      {error && <FieldError id="namespaces-error" text={error} />}
    </fieldset>
  );
}
