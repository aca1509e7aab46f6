/** A field for several known names: chosen ones can be removed, others are chosen from a list. */
import { useSignal } from "@preact/signals";
import { componentTexts } from "../texts/components.ts";
import { Button } from "./button.tsx";
import { FieldFrame } from "./field-frame.tsx";
import { ForeignText } from "./foreign-text.tsx";
import "./pick-field.css";

export interface PickFieldProps {
  readonly label: string;
  readonly hint: string;
  readonly value: readonly string[];
  readonly known: readonly string[];
  /** Names that are not in the list can be typed too. */
  readonly free?: boolean;
  readonly error?: string | undefined;
  readonly onInput: (value: string[]) => void;
}

const texts = componentTexts.pick;

export function PickField({ label, hint, value, known, free = false, error, onInput }: PickFieldProps) {
  const typed = useSignal("");
  const left = known.filter((name) => !value.includes(name));
  const add = (name: string): void => {
    const trimmed = name.trim();
    typed.value = "";
    if (trimmed !== "" && !value.includes(trimmed)) onInput([...value, trimmed]);
  };
  return (
    <div class="stack-small">
      <FieldFrame
        label={label}
        hint={hint}
        optional
        error={error}
        control={(control) =>
          free ? (
            <span class="line">
              <input
                {...control}
                class="input"
                list={`${control.id}-known`}
                value={typed.value}
                onInput={(event) => (typed.value = event.currentTarget.value)}
                onKeyDown={(event) => {
                  if (event.key !== "Enter") return;
                  event.preventDefault();
                  add(typed.value);
                }}
              />
              <datalist id={`${control.id}-known`}>
                {left.map((name) => (
                  <option key={name} value={name} />
                ))}
              </datalist>
              <Button onClick={() => add(typed.value)}>{texts.add}</Button>
            </span>
          ) : (
            <select
              {...control}
              class="input select"
              value=""
              onChange={(event) => {
                add(event.currentTarget.value);
                event.currentTarget.value = "";
              }}
            >
              <option value="">{left.length === 0 ? texts.all : texts.choose}</option>
              {left.map((name) => (
                <option key={name} value={name}>
                  {name}
                </option>
              ))}
            </select>
          )
        }
      />
      {value.length > 0 && (
        <ul class="picked" aria-label={label}>
          {value.map((name) => (
            <li key={name}>
              <ForeignText text={name} />
              {!known.includes(name) && <span class="muted">{texts.unknown}</span>}
              <Button
                kind="quiet"
                size="small"
                label={texts.remove(name)}
                onClick={() => onInput(value.filter((one) => one !== name))}
              >
                ×
              </Button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
