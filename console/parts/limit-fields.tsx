/** How many sessions and requests at once a gateway or an endpoint takes. */
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

/** What is no number is sent as it was typed: the gateway says what is wrong with it. */
function withNumber(all: object, name: string, typed: string): object {
  const { [name]: _, ...rest } = all as Record<string, unknown>;
  return typed === "" ? rest : { ...rest, [name]: /^\d+$/.test(typed) ? Number(typed) : typed };
}
