/** The fields of the registry: which endpoints it lists, and for whom. Without endpoints there is none. */
import type { Settings } from "../../api/types.ts";
import { SwitchField } from "../../components/switch-field.tsx";
import { settingsTexts } from "../../texts/settings.ts";
import { useEndpointNames } from "../keys/use-names.ts";

const texts = settingsTexts.registry;

type Registry = NonNullable<Settings["registry"]>;

interface RegistryFieldsProps {
  readonly value: Registry | null | undefined;
  /** Null removes the registry. */
  readonly onInput: (registry: Registry | null) => void;
}

export function RegistryFields({ value, onInput }: RegistryFieldsProps) {
  const names = useEndpointNames();
  const { public: open = false, endpoints: listed = [] } = value ?? {};
  const toggle = (uuid: string, on: boolean): void => {
    const endpoints = on ? [...listed, uuid] : listed.filter((other) => other !== uuid);
    onInput(endpoints.length > 0 ? { public: open, endpoints } : null);
  };
  return (
    <div class="stack">
      <p class="muted">{texts.text}</p>
      <code>{location.origin}</code>
      <fieldset class="stack-small">
        <legend class="field-label">{texts.endpoints}</legend>
        {names.length === 0 && <p class="muted">{texts.none}</p>}
        {names.map(({ uuid, name }) => (
          <SwitchField
            key={uuid}
            label={name}
            value={listed.includes(uuid)}
            onInput={(on) => toggle(uuid, on)}
          />
        ))}
      </fieldset>
      {listed.length > 0 && (
        <SwitchField
          label={texts.public}
          hint={texts.publicHint}
          value={open}
          onInput={(on) => onInput({ public: on, endpoints: listed })}
        />
      )}
    </div>
  );
}
