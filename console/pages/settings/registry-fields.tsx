/** The fields of the registry: what it lists, and for whom. Without anything to list there is none. */
import type { Settings } from "../../api/types.ts";
import { SwitchField } from "../../components/switch-field.tsx";
import { CONFIG, useList } from "../../live/resource.ts";
import { settingsTexts } from "../../texts/settings.ts";
import { useEndpointNames } from "../keys/use-names.ts";

const texts = settingsTexts.registry;

type Registry = NonNullable<Settings["registry"]>;

interface RegistryFieldsProps {
  readonly value: Registry | null | undefined;
  readonly faultOf: (path: string) => string | undefined;
  /** Null removes the registry. */
  readonly onInput: (registry: Registry | null) => void;
}

export function RegistryFields({ value, faultOf, onInput }: RegistryFieldsProps) {
  const names = useEndpointNames();
  const all = useList("/mcp-servers", {}, CONFIG).value.value ?? [];
  const { public: open = false, endpoints = [], servers = [] } = value ?? {};
  // Others can run only what these programs fetch.
  const listable = all.filter(
    ({ uuid, command = "" }) => /^(?:npx|uvx|docker)$/.test(command) || servers.includes(uuid),
  );
  const choose = (chosen: Partial<Registry>): void => {
    const registry = { public: open, endpoints, servers, ...chosen };
    onInput(registry.endpoints.length + registry.servers.length > 0 ? registry : null);
  };
  const toggled = (list: readonly string[], uuid: string, on: boolean): string[] =>
    on ? [...list, uuid] : list.filter((other) => other !== uuid);
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
            value={endpoints.includes(uuid)}
            onInput={(on) => choose({ endpoints: toggled(endpoints, uuid, on) })}
          />
        ))}
      </fieldset>
      {listable.length > 0 && (
        <fieldset class="stack-small">
          <legend class="field-label">{texts.servers}</legend>
          <p class="muted">{texts.serversHint}</p>
          {listable.map(({ uuid, name }) => (
            <SwitchField
              key={uuid}
              label={name}
              value={servers.includes(uuid)}
              error={faultOf(`/registry/servers/${servers.indexOf(uuid)}`)}
              onInput={(on) => choose({ servers: toggled(servers, uuid, on) })}
            />
          ))}
        </fieldset>
      )}
      {value && (
        <SwitchField
          label={texts.public}
          hint={texts.publicHint}
          value={open}
          onInput={(on) => choose({ public: on })}
        />
      )}
    </div>
  );
}
