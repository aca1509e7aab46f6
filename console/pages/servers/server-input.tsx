/** The input for one field of a server. The schema of the field decides which control it is. */
import type { ComponentChildren } from "preact";
import type { ServerField } from "../../../src/config/server-field.ts";
import { type FieldName, SERVER_FIELDS } from "../../../src/config/server-fields.ts";
import { ListField } from "../../components/list-field.tsx";
import { NumberField } from "../../components/number-field.tsx";
import { SelectField } from "../../components/select-field.tsx";
import { TextField } from "../../components/text-field.tsx";
import { duration } from "../../format.ts";
import { isRecord } from "../../merge-patch.ts";
import { serverTexts } from "../../texts/servers.ts";
import { type Draft, withField } from "./draft.ts";
import { NameValues } from "./name-values.tsx";

const texts = serverTexts.form;
const REQUIRED: ReadonlySet<string> = new Set(["name", "command", "url", "openapi"]);

export interface ServerFormProps {
  readonly draft: Draft;
  readonly onInput: (draft: Draft) => void;
  /** The gateway's error for a field, by its JSON Pointer. */
  readonly faultOf: (path: string) => string | undefined;
  readonly disabled?: boolean;
}

interface ServerInputProps extends ServerFormProps {
  readonly name: FieldName;
}

export function ServerInput(props: ServerInputProps) {
  const { name, draft, onInput, faultOf, disabled = false } = props;
  const { schema, label, about, unit, preset, labels }: ServerField = SERVER_FIELDS[name];
  const value = draft[name];
  const set = (next: unknown) => onInput(withField(draft, name, next));
  const frame = (howTo = "") => ({
    label,
    disabled,
    error: faultOf(`/${name}`),
    hint: <Coded text={[about, howTo, texts.hints[name] ?? ""].filter(Boolean).join(" ")} />,
  });
  const text = { optional: true, value: textOf(value), onInput: set };
  if (name === "args") return <Lines {...frame(texts.lines)} value={listOf(value)} onInput={set} />;
  if (name === "description") return <TextField {...frame()} {...text} rows={2} />;
  if (labels && schema["type"] === "object") return <Members {...props} />;
  if (labels) return <Choice {...props} />;
  if (unit === "ms")
    return (
      <TextField
        {...frame(texts.time)}
        {...text}
        placeholder={duration(Number(preset))}
        onInput={(typed) => set(numberOr(typed))}
      />
    );
  switch (schema["type"]) {
    case "integer":
      return (
        <NumberField
          {...frame()}
          whole
          value={textOf(value) || String(preset)}
          onInput={(typed) => set(numberOr(typed))}
        />
      );
    case "array":
      return <ListField {...frame(texts.commas)} value={listOf(value)} onInput={set} />;
    case "object":
      return <NameValues {...frame(texts.encrypted)} value={mapOf(value)} onInput={set} />;
    default:
      // An empty text stays, because a server without it would be of another kind.
      return (
        <TextField
          {...frame()}
          {...text}
          mono
          type={["url", "openapi", "baseUrl"].includes(name) ? "url" : "text"}
          {...(REQUIRED.has(name) && {
            required: true,
            optional: false,
            onInput: (typed: string) => onInput({ ...draft, [name]: typed }),
          })}
        />
      );
  }
}

/** One of some words. A field that is an object has the word as its `mode`. */
function Choice({ name, draft, onInput, faultOf, disabled = false }: ServerInputProps) {
  const { label, labels = {} }: ServerField = SERVER_FIELDS[name];
  const value = draft[name];
  const [first = ""] = Object.keys(labels);
  const word = isRecord(value) ? value["mode"] : value;
  return (
    <SelectField
      label={label}
      disabled={disabled}
      error={faultOf(`/${name}`)}
      value={typeof word === "string" ? word : first}
      options={Object.entries(labels).map(([option, text]) => ({ value: option, label: text }))}
      onInput={(chosen) => {
        const next = chosen === first ? undefined : chosen;
        onInput(withField(draft, name, isRecord(value) ? withField(value, "mode", next) : next));
      }}
    />
  );
}

/** An object of lists. */
function Members({ name, draft, onInput, faultOf, disabled = false }: ServerInputProps) {
  const { labels = {} }: ServerField = SERVER_FIELDS[name];
  const value = isRecord(draft[name]) ? draft[name] : {};
  return Object.entries(labels).map(([member, label]) => (
    <ListField
      key={member}
      label={label}
      hint={texts.patterns}
      disabled={disabled}
      error={faultOf(`/${name}/${member}`)}
      value={listOf(value[member])}
      onInput={(list) => onInput(withField(draft, name, withField(value, member, list)))}
    />
  ));
}

interface LinesProps {
  readonly label: string;
  readonly hint: ComponentChildren;
  readonly error: string | undefined;
  readonly disabled: boolean;
  readonly value: readonly string[];
  readonly onInput: (value: readonly string[]) => void;
}

/** One text on each line. */
function Lines({ value, onInput, ...frame }: LinesProps) {
  return (
    <TextField
      {...frame}
      optional
      mono
      rows={Math.min(8, Math.max(2, value.length + 1))}
      value={value.join("\n")}
      onInput={(typed) => onInput(typed === "" ? [] : typed.split("\n"))}
    />
  );
}

/** A text with code in backticks. */
function Coded({ text }: { readonly text: string }) {
  return <>{text.split("`").map((part, at) => (at % 2 === 0 ? part : <code key={at}>{part}</code>))}</>;
}

/** An invalid number is sent as typed: the gateway answers with the error of the field. */
function numberOr(typed: string): number | string {
  return /^\d+$/.test(typed) ? Number(typed) : typed;
}

function textOf(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

function listOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

function mapOf(value: unknown): Readonly<Record<string, string>> {
  return isRecord(value) ? (value as Readonly<Record<string, string>>) : {};
}
