/** The fields of a server, or all of it as JSON. */
import { useSignal } from "@preact/signals";
import { Button } from "../../components/button.tsx";
import { CodeField } from "../../components/code-field.tsx";
import { SelectField } from "../../components/select-field.tsx";
import { TextField } from "../../components/text-field.tsx";
import { serverTexts } from "../../texts/servers.ts";
import { type Draft, plainSecretIn, withField } from "./draft.ts";
import { listOf, type ServerFormProps } from "./form-props.ts";
import { MoreFields } from "./more-fields.tsx";
import { NameValues } from "./name-values.tsx";

const texts = serverTexts.form;
const OF_ONE_KIND = ["command", "args", "env", "cwd", "url", "headers", "instances"];

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
          error={parsed(text.value) ? undefined : texts.jsonBroken}
          onInput={(next) => {
            text.value = next;
            const value = parsed(next);
            if (value) onInput(value);
          }}
        />
      )}
    </div>
  );
}

function Fields({ draft, onInput, faultOf, disabled = false }: ServerFormProps) {
  const set = (name: string, value: unknown) => onInput(withField(draft, name, value));
  const textOf = (name: string): string => (typeof draft[name] === "string" ? draft[name] : "");
  const kind = "url" in draft ? "url" : "command";
  const secret = plainSecretIn(draft);
  return (
    <>
      <TextField
        label={texts.name}
        hint={texts.nameHint}
        mono
        required
        disabled={disabled}
        error={faultOf("/name")}
        value={textOf("name")}
        onInput={(value) => onInput({ ...draft, name: value })}
      />
      <SelectField
        label={texts.kind}
        disabled={disabled}
        value={kind}
        options={(["command", "url"] as const).map((value) => ({ value, label: texts.kinds[value] }))}
        onInput={(value) => onInput(otherKind(draft, value))}
      />
      {kind === "command" ? (
        <>
          <TextField
            label={texts.command}
            mono
            required
            disabled={disabled}
            error={faultOf("/command")}
            value={textOf("command")}
            onInput={(value) => onInput({ ...draft, command: value })}
          />
          <TextField
            label={texts.args}
            hint={texts.argsHint}
            mono
            optional
            rows={Math.min(8, Math.max(2, listOf(draft["args"]).length + 1))}
            disabled={disabled}
            error={faultOf("/args")}
            value={listOf(draft["args"]).join("\n")}
            onInput={(value) => set("args", value === "" ? [] : value.split("\n"))}
          />
          <NameValues
            label={texts.env}
            hint={texts.envHint}
            disabled={disabled}
            value={mapOf(draft["env"])}
            onInput={(value) => set("env", value)}
          />
          <TextField
            label={texts.cwd}
            hint={texts.cwdHint}
            mono
            optional
            disabled={disabled}
            error={faultOf("/cwd")}
            value={textOf("cwd")}
            onInput={(value) => set("cwd", value)}
          />
        </>
      ) : (
        <>
          <TextField
            label={texts.url}
            mono
            required
            type="url"
            disabled={disabled}
            error={faultOf("/url")}
            value={textOf("url")}
            onInput={(value) => onInput({ ...draft, url: value })}
          />
          <NameValues
            label={texts.headers}
            hint={texts.headersHint}
            disabled={disabled}
            value={mapOf(draft["headers"])}
            onInput={(value) => set("headers", value)}
          />
        </>
      )}
      {secret !== undefined && (
        <p class="note-warn" role="status">
          {texts.plainSecret(secret)}
        </p>
      )}
      <TextField
        label={texts.description}
        optional
        rows={2}
        disabled={disabled}
        error={faultOf("/description")}
        value={textOf("description")}
        onInput={(value) => set("description", value)}
      />
      <MoreFields draft={draft} onInput={onInput} faultOf={faultOf} disabled={disabled} />
    </>
  );
}

/** What only the other kind has goes. */
function otherKind(draft: Draft, kind: string): Draft {
  const common = Object.entries(draft).filter(([name]) => !OF_ONE_KIND.includes(name));
  return { ...Object.fromEntries(common), [kind]: draft[kind] ?? "" };
}

function mapOf(value: unknown): Readonly<Record<string, string>> {
  return typeof value === "object" && value !== null ? (value as Record<string, string>) : {};
}

function parsed(text: string): Draft | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Draft)
      : undefined;
  } catch {
    return undefined;
  }
}
