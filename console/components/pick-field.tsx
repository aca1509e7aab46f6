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
  /** The name being typed, while it is part of the value: saving must not need Enter first. */
  const open = useSignal<string | undefined>(undefined);
  const picked = value.filter((name) => name !== open.value);
  const left = known.filter((name) => !picked.includes(name));
  const give = (text: string): string | undefined => {
    const name = text.trim();
    const added = name === "" || picked.includes(name) ? undefined : name;
    const next = added === undefined ? picked : [...picked, added];
    if (next.join() !== value.join()) onInput(next);
    return added;
  };
  const add = (name: string): void => {
    typed.value = "";
    open.value = undefined;
    give(name);
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
                onInput={(event) => {
                  typed.value = event.currentTarget.value;
                  open.value = give(typed.value);
                }}
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
      {picked.length > 0 && (
        <ul class="picked" aria-label={label}>
          {picked.map((name) => (
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
