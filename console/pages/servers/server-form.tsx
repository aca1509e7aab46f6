/** Edits a server in a form, or as JSON. */
import { useSignal } from "@preact/signals";
import { belongsTo, type FieldName, fieldsWhere } from "../../../src/config/server-fields.ts";
import { Button } from "../../components/button.tsx";
import { CodeField } from "../../components/code-field.tsx";
import { SelectField } from "../../components/select-field.tsx";
import { serverTexts } from "../../texts/servers.ts";
import { type Draft, plainSecretIn } from "./draft.ts";
import { type ServerFormProps, ServerInput } from "./server-input.tsx";

const texts = serverTexts.form;

export function ServerForm(props: ServerFormProps) {
  const text = useSignal<string | undefined>(undefined);
  const { draft, onInput, disabled = false } = props;
  const asJson = text.value !== undefined;
  return (
    <div class="stack">
      <div class="line spread">
        <span />
        <Button
          kind="quiet"
          size="small"
          onClick={() => (text.value = asJson ? undefined : JSON.stringify(draft, null, 2))}
        >
          {disabled ? texts.shown[asJson ? "form" : "json"] : asJson ? texts.asForm : texts.asJson}
        </Button>
      </div>
      {text.value === undefined ? (
        <Fields {...props} />
      ) : (
        <CodeField
          label={texts.json}
          rows={20}
          value={text.value}
          disabled={disabled}
          error={parseDraft(text.value) ? firstFault(props) : texts.jsonBroken}
          onInput={(next) => {
            text.value = next;
            const value = parseDraft(next);
            if (value) onInput(value);
          }}
        />
      )}
    </div>
  );
}

function Fields(props: ServerFormProps) {
  const { draft, onInput, disabled = false } = props;
  const kind = kindOf(draft);
  const secret = plainSecretIn(draft);
  const inForm = (place: "first" | "more", own: boolean): readonly FieldName[] =>
    fieldsWhere(({ form }) => form === place).filter((name) =>
      KIND_SPECIFIC.includes(name) ? belongsTo(kind, name) : !own,
    );
  const more = inForm("more", false);
  const inputs = (names: readonly FieldName[]) =>
    names.map((name) => <ServerInput key={name} name={name} {...props} />);
  return (
    <>
      <ServerInput name="name" {...props} />
      <SelectField
        label={texts.kind}
        disabled={disabled}
        value={kind}
        options={Object.entries(texts.kinds).map(([value, label]) => ({ value, label }))}
        onInput={(value) => onInput(otherKind(draft, value))}
      />
      {inputs(inForm("first", true))}
      {secret !== undefined && (
        <p class="note-warn" role="status">
          {texts.plainSecret(secret)}
        </p>
      )}
      <ServerInput name="description" {...props} />
      <details class="more-fields" open={more.some((name) => props.faultOf(`/${name}`))}>
        <summary>{texts.more}</summary>
        <div class="stack">{inputs(more)}</div>
      </details>
    </>
  );
}

const SHOWN = fieldsWhere(({ form }) => form);
/** JSON Pointers of the fields that show their own errors. */
export const SHOWN_BY_FIELDS = SHOWN.map((name) => `/${name}`);

function firstFault({ faultOf }: ServerFormProps): string | undefined {
  const name = SHOWN.find((one) => faultOf(`/${one}`));
  return name && `${name}: ${faultOf(`/${name}`)}`;
}

const KIND_SPECIFIC: readonly string[] = fieldsWhere(({ only }) => only);

const KEY_OF = { stdio: "command", remote: "url", openapi: "openapi" } as const;
type Kind = keyof typeof KEY_OF;

function kindOf(draft: Draft): Kind {
  if (draft["openapi"] !== undefined) return "openapi";
  return draft["url"] === undefined ? "stdio" : "remote";
}

/** Switches the kind of the server and removes the fields of the other kinds. */
function otherKind(draft: Draft, kind: string): Draft {
  const common = Object.entries(draft).filter(([name]) => !KIND_SPECIFIC.includes(name) && name !== "type");
  return { ...Object.fromEntries(common), [KEY_OF[kind as Kind]]: "" };
}

function parseDraft(text: string): Draft | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Draft)
      : undefined;
  } catch {
    return undefined;
  }
}
