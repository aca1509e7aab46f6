/** Edits a server in a form, or as JSON. */
import { useSignal } from "@preact/signals";
import { Button } from "../../components/button.tsx";
import { CodeField } from "../../components/code-field.tsx";
import { SelectField } from "../../components/select-field.tsx";
import { TextField } from "../../components/text-field.tsx";
import { serverTexts } from "../../texts/servers.ts";
import { type Draft, plainSecretIn } from "./draft.ts";
import { fieldsOf, listOf, type ServerFormProps } from "./form-props.ts";
import { MoreFields } from "./more-fields.tsx";
import { NameValues } from "./name-values.tsx";

const texts = serverTexts.form;
const KIND_SPECIFIC = ["command", "args", "env", "cwd", "url", "headers", "instances"];

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
          {asJson ? texts.asForm : texts.asJson}
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
          error={parseDraft(text.value) ? undefined : texts.jsonBroken}
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
  const { text, required } = fieldsOf(props);
  const kind = "url" in draft ? "url" : "command";
  const secret = plainSecretIn(draft);
  return (
    <>
      <TextField label={texts.name} hint={texts.nameHint} {...required("name")} />
      <SelectField
        label={texts.kind}
        disabled={disabled}
        value={kind}
        options={(["command", "url"] as const).map((value) => ({ value, label: texts.kinds[value] }))}
        onInput={(value) => onInput(otherKind(draft, value))}
      />
      {kind === "command" ? <CommandFields {...props} /> : <AddressFields {...props} />}
      {secret !== undefined && (
        <p class="note-warn" role="status">
          {texts.plainSecret(secret)}
        </p>
      )}
      <TextField label={texts.description} rows={2} {...text("description")} />
      <MoreFields {...props} />
    </>
  );
}

function CommandFields(props: ServerFormProps) {
  const { draft, disabled = false } = props;
  const { set, text, required } = fieldsOf(props);
  const args = listOf(draft["args"]);
  return (
    <>
      <TextField label={texts.command} {...required("command")} />
      <TextField
        label={texts.args}
        hint={texts.argsHint}
        mono
        rows={Math.min(8, Math.max(2, args.length + 1))}
        {...text("args")}
        value={args.join("\n")}
        onInput={(value) => set("args", value === "" ? [] : value.split("\n"))}
      />
      <NameValues
        label={texts.env}
        hint={texts.envHint}
        disabled={disabled}
        value={mapOf(draft["env"])}
        onInput={(value) => set("env", value)}
      />
      <TextField label={texts.cwd} hint={texts.cwdHint} mono {...text("cwd")} />
    </>
  );
}

function AddressFields(props: ServerFormProps) {
  const { draft, disabled = false } = props;
  const { set, required } = fieldsOf(props);
  return (
    <>
      <TextField label={texts.url} type="url" {...required("url")} />
      <NameValues
        label={texts.headers}
        hint={texts.headersHint}
        disabled={disabled}
        value={mapOf(draft["headers"])}
        onInput={(value) => set("headers", value)}
      />
    </>
  );
}

/** Switches the kind of the server and removes the fields of the other kind. */
function otherKind(draft: Draft, kind: string): Draft {
  const common = Object.entries(draft).filter(([name]) => !KIND_SPECIFIC.includes(name));
  return { ...Object.fromEntries(common), [kind]: draft[kind] ?? "" };
}

function mapOf(value: unknown): Readonly<Record<string, string>> {
  return typeof value === "object" && value !== null ? (value as Record<string, string>) : {};
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
