/** Edits the argument rules of a namespace: default values, and fixed values that callers do not see. */
import type { TableTool } from "../../api/types.ts";
import { SelectField } from "../../components/select-field.tsx";
import { TextField } from "../../components/text-field.tsx";
import { STATES, useResource } from "../../live/resource.ts";
import { toolsTexts } from "../../texts/tools.ts";
import { parseJson, type TypedArgument } from "./override.ts";
import { awaitsApproval } from "./tool-row.ts";

const texts = toolsTexts.override;

interface ArgumentFieldsProps {
  readonly tool: TableTool;
  readonly value: readonly TypedArgument[];
  readonly onInput: (value: readonly TypedArgument[]) => void;
}

export function ArgumentFields({ tool, value, onInput }: ArgumentFieldsProps) {
  const params = awaitsApproval(tool) ? undefined : { uuid: tool.server, tool: tool.tool };
  const detail = useResource("/mcp-servers/:uuid/tools/:tool", params, STATES).value.value;
  const names = [...new Set([...propertiesIn(detail?.definition), ...value.map(({ name }) => name)])];
  if (names.length === 0) return null;
  const set = (name: string, rule: TypedArgument | undefined) => {
    const rest = value.filter((one) => one.name !== name);
    onInput(rule ? [...rest, rule] : rest);
  };
  return (
    <fieldset class="stack-small">
      <legend class="field-label">{texts.args}</legend>
      <p class="field-hint">{texts.argsHint}</p>
      {names.map((name) => (
        <ArgumentField
          key={name}
          name={name}
          rule={value.find((one) => one.name === name)}
          onInput={(rule) => set(name, rule)}
        />
      ))}
    </fieldset>
  );
}

interface ArgumentFieldProps {
  readonly name: string;
  readonly rule: TypedArgument | undefined;
  readonly onInput: (rule: TypedArgument | undefined) => void;
}

function ArgumentField({ name, rule, onInput }: ArgumentFieldProps) {
  const { free, ...modes } = texts.argMode;
  const choose = (mode: string) =>
    onInput(mode === "" ? undefined : { name, mode: mode as TypedArgument["mode"], json: rule?.json ?? "" });
  return (
    <>
      <SelectField
        label={name}
        none={free}
        value={rule?.mode ?? ""}
        options={Object.entries(modes).map(([value, label]) => ({ value, label }))}
        onInput={choose}
      />
      {rule && (
        <TextField
          label={`${texts.value}: ${name}`}
          mono
          value={rule.json}
          error={parseJson(rule.json) === undefined ? texts.badJson : undefined}
          onInput={(json) => onInput({ ...rule, json })}
        />
      )}
    </>
  );
}

function propertiesIn(definition: unknown): readonly string[] {
  const { inputSchema } = (definition ?? {}) as { inputSchema?: { properties?: object } };
  return Object.keys(inputSchema?.properties ?? {});
}
