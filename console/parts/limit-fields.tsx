/** Fields for the limits of a gateway or an endpoint: sessions, and requests at the same time. */
import { NumberField } from "../components/number-field.tsx";
import { shellTexts } from "../texts/shell.ts";
import type { Sending } from "../use-sending.ts";

const texts = shellTexts.limits;
const NAMES = ["sessions", "inFlight"] as const;

interface LimitFieldsProps {
  readonly value: Readonly<Partial<Record<(typeof NAMES)[number], number>>>;
  readonly onInput: (value: object) => void;
  readonly sending: Sending;
}

export function LimitFields({ value, onInput, sending }: LimitFieldsProps) {
  return (
    <div class="limit-fields">
      {NAMES.map((name) => (
        <NumberField
          key={name}
          label={texts[name]}
          whole
          optional
          placeholder={texts.none}
          value={String(value[name] ?? "")}
          error={sending.faultOf(`/limits/${name}`)}
          onInput={(text) => onInput(withNumber(value, name, text.trim()))}
        />
      ))}
    </div>
  );
}

/** Invalid input is sent as typed: the gateway answers with the error of the field. */
function withNumber(all: object, name: string, typed: string): object {
  const { [name]: _, ...rest } = all as Record<string, unknown>;
  return typed === "" ? rest : { ...rest, [name]: /^\d+$/.test(typed) ? Number(typed) : typed };
}
