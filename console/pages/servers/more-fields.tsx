/** Fields of a server that most leave as they are. */
import { NumberField } from "../../components/number-field.tsx";
import { SelectField } from "../../components/select-field.tsx";
import { TextField } from "../../components/text-field.tsx";
import { serverTexts } from "../../texts/servers.ts";
import { withField } from "./draft.ts";
import { listOf, type ServerFormProps } from "./form-props.ts";

const texts = serverTexts.form;
const LIFECYCLES = ["default", "keep-alive", "ephemeral"] as const;

export function MoreFields({ draft, onInput, faultOf, disabled = false }: ServerFormProps) {
  const set = (name: string, value: unknown) => onInput(withField(draft, name, value));
  const tools = (draft["tools"] ?? {}) as Readonly<Record<string, unknown>>;
  const setTools = (name: string, value: string) => set("tools", withField(tools, name, wordsOf(value)));
  const { lifecycle, timeoutMs } = draft;
  return (
    <details class="more-fields">
      <summary>{texts.more}</summary>
      <div class="stack">
        <TextField
          label={texts.labels}
          hint={texts.labelsHint}
          optional
          disabled={disabled}
          error={faultOf("/labels")}
          value={listOf(draft["labels"]).join(", ")}
          onInput={(value) => set("labels", wordsOf(value))}
        />
        <SelectField
          label={texts.credentials}
          disabled={disabled}
          value={draft["credentials"] === "user" ? "user" : "shared"}
          options={(["shared", "user"] as const).map((value) => ({
            value,
            label: texts.credentialKinds[value],
          }))}
          onInput={(value) => set("credentials", value === "shared" ? undefined : value)}
        />
        {typeof lifecycle !== "object" && (
          <SelectField
            label={texts.lifecycle}
            disabled={disabled}
            value={typeof lifecycle === "string" ? lifecycle : "default"}
            options={LIFECYCLES.map((value) => ({ value, label: texts.lifecycles[value] }))}
            onInput={(value) => set("lifecycle", value === "default" ? undefined : value)}
          />
        )}
        {"command" in draft && (
          <NumberField
            label={texts.instances}
            hint={texts.instancesHint}
            disabled={disabled}
            whole
            error={faultOf("/instances")}
            value={textOf(draft["instances"] ?? 1)}
            onInput={(value) => set("instances", /^\d+$/.test(value) ? Number(value) : value)}
          />
        )}
        <TextField
          label={texts.timeout}
          hint={texts.timeoutHint}
          optional
          disabled={disabled}
          error={faultOf("/timeoutMs")}
          value={textOf(timeoutMs)}
          onInput={(value) => set("timeoutMs", /^\d+$/.test(value) ? Number(value) : value)}
        />
        <TextField
          label={texts.allow}
          hint={texts.toolsHint}
          mono
          optional
          disabled={disabled}
          error={faultOf("/tools/allow")}
          value={listOf(tools["allow"]).join(", ")}
          onInput={(value) => setTools("allow", value)}
        />
        <TextField
          label={texts.deny}
          hint={texts.toolsHint}
          mono
          optional
          disabled={disabled}
          error={faultOf("/tools/deny")}
          value={listOf(tools["deny"]).join(", ")}
          onInput={(value) => setTools("deny", value)}
        />
      </div>
    </details>
  );
}

function textOf(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

function wordsOf(text: string): readonly string[] {
  return text === "" ? [] : text.split(",").map((word) => word.trimStart());
}
