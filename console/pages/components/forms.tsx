/** Samples: fields. */
import { useState } from "preact/hooks";
import { CodeField } from "../../components/code-field.tsx";
import { NumberField } from "../../components/number-field.tsx";
import { SelectField } from "../../components/select-field.tsx";
import { SwitchField } from "../../components/switch-field.tsx";
import { TextField } from "../../components/text-field.tsx";
import { State } from "./state.tsx";

export function Fields() {
  const [name, setName] = useState("github");
  const [timeout, setTimeout] = useState("30000");
  const [surface, setSurface] = useState("meta");
  const [enabled, setEnabled] = useState(true);
  const [json, setJson] = useState('{\n  "command": "npx",\n  "args": ["-y", "server-github"]\n}');
  return (
    <>
      <State name="Text, number, choice">
        <TextField
          label="Name"
          value={name}
          onInput={setName}
          required
          hint="Clients see it as the prefix of each tool."
          mono
        />
        <TextField
          label="Description"
          value=""
          onInput={noop}
          optional
          rows={2}
          placeholder="What it is for"
        />
        <NumberField label="Timeout" value={timeout} onInput={setTimeout} whole unit="ms" />
        <SelectField
          label="Surface"
          value={surface}
          onInput={setSurface}
          options={[
            { value: "meta", label: "meta: find and call" },
            { value: "aggregate", label: "aggregate: all tools" },
            { value: "auto", label: "auto: depends on the client" },
          ]}
        />
      </State>
      <State name="Switches">
        <SwitchField
          label="Enabled"
          value={enabled}
          onInput={setEnabled}
          hint="Clients see its tools at once."
        />
        <SwitchField label="Off and disabled" value={false} onInput={noop} disabled />
      </State>
      <State name="Invalid and disabled">
        <TextField
          label="Address"
          value="htp://example"
          onInput={noop}
          mono
          error="Not an address: it begins with http:// or https://."
        />
        <NumberField label="Calls" value="-1" onInput={noop} unit="per minute" error="At least 1." />
        <TextField label="Id" value="c0ffee-17" onInput={noop} disabled mono />
      </State>
      <State name="Code">
        <CodeField label="Config" value={json} onInput={setJson} hint="The format of other clients." />
      </State>
    </>
  );
}

function noop(): void {}
