/** Which secrets that are kept elsewhere servers may name: prefixes, by where they are kept. */
import type { Settings } from "../../api/types.ts";
import { ListField } from "../../components/list-field.tsx";
import { settingsTexts } from "../../texts/settings.ts";

const texts = settingsTexts.secretSources;

type Value = NonNullable<Settings["secretSources"]>;

export interface SecretSourcesProps {
  readonly value: Value;
  readonly faultOf: (path: string) => string | undefined;
  readonly onInput: (value: Value) => void;
}

export function SecretSources({ value, faultOf, onInput }: SecretSourcesProps) {
  return (
    <>
      <p class="muted">{texts.text}</p>
      {texts.kinds.map(({ kind, label, hint }) => (
        <ListField
          key={kind}
          label={label}
          hint={hint}
          value={value[kind] ?? []}
          error={faultOf(`/${kind}`)}
          onInput={(prefixes) => onInput({ ...value, [kind]: prefixes })}
        />
      ))}
    </>
  );
}
