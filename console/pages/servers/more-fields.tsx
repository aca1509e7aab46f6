/** Fields of a server that are rarely changed. */
import { ListField } from "../../components/list-field.tsx";
import { NumberField } from "../../components/number-field.tsx";
import { SelectField } from "../../components/select-field.tsx";
import { TextField } from "../../components/text-field.tsx";
import { serverTexts } from "../../texts/servers.ts";
import { withField } from "./draft.ts";
import { fieldsOf, listOf, type ServerFormProps } from "./form-props.ts";

const texts = serverTexts.form;
const LIFECYCLES = ["default", "keep-alive", "ephemeral"] as const;

export function MoreFields(props: ServerFormProps) {
  const { draft, faultOf, disabled = false } = props;
  const { set, text, number } = fieldsOf(props);
  const { lifecycle } = draft;
  return (
    <details class="more-fields">
      <summary>{texts.more}</summary>
      <div class="stack">
        <ListField
          label={texts.labels}
          hint={texts.labelsHint}
          disabled={disabled}
          error={faultOf("/labels")}
          value={listOf(draft["labels"])}
          onInput={(value) => set("labels", value)}
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
            whole
            {...number("instances")}
            value={number("instances").value || "1"}
          />
        )}
        <TextField
          label={texts.timeout}
          hint={texts.timeoutHint}
          {...text("timeoutMs")}
          {...number("timeoutMs")}
        />
        <ToolRules {...props} />
      </div>
    </details>
  );
}

function ToolRules({ draft, onInput, faultOf, disabled = false }: ServerFormProps) {
  const tools = (draft["tools"] ?? {}) as Readonly<Record<string, unknown>>;
  return (["allow", "deny"] as const).map((name) => (
    <ListField
      key={name}
      label={texts[name]}
      hint={texts.toolsHint}
      disabled={disabled}
      error={faultOf(`/tools/${name}`)}
      value={listOf(tools[name])}
      onInput={(value) => onInput(withField(draft, "tools", withField(tools, name, value)))}
    />
  ));
}
