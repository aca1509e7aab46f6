/** A field for several values: each is a chip that can be removed, and the next is typed with completion. */
import { useSignal } from "@preact/signals";
import { componentTexts } from "../texts/components.ts";
import { FieldFrame, type FieldProps } from "./field-frame.tsx";
import { ForeignText } from "./foreign-text.tsx";
import "./token-field.css";

export interface TokenFieldProps extends FieldProps {
  readonly value: readonly string[];
  readonly suggestions: readonly string[];
  readonly onInput: (value: readonly string[]) => void;
}

export function TokenField(props: TokenFieldProps) {
  const { value, suggestions, onInput } = props;
  const typed = useSignal("");
  /** The name being typed, while it is part of the value without a chip: saving must not need Enter first. */
  const open = useSignal<string | undefined>(undefined);
  const chips = value.filter((name) => name !== open.value);
  const namesIn = (text: string) => [
    ...new Set(
      text
        .split(",")
        .map((name) => name.trim())
        .filter((name) => name !== "" && !chips.includes(name)),
    ),
  ];
  const give = (names: readonly string[]) => {
    const next = [...chips, ...names];
    if (next.join() !== value.join()) onInput(next);
  };
  const add = (text: string) => {
    typed.value = "";
    open.value = undefined;
    give(namesIn(text));
  };
  const type = (text: string) => {
    typed.value = text;
    const names = namesIn(text);
    open.value = names[0];
    give(names);
  };
  return (
    <FieldFrame
      {...props}
      control={(control) => (
        <div class="tokens input">
          {chips.map((name) => (
            <span key={name} class="token mono">
              <ForeignText text={name} />
              <button
                type="button"
                class="token-take"
                aria-label={componentTexts.take(name)}
                onClick={() => onInput(value.filter((other) => other !== name))}
              >
                ×
              </button>
            </span>
          ))}
          <input
            {...control}
            class="token-input mono"
            value={typed.value}
            autocomplete="off"
            spellcheck={false}
            list={`${control.id}-list`}
            onInput={(event) => {
              const text = event.currentTarget.value;
              // A choice from the list comes whole. Typed letters that happen to complete a name do not.
              const chosen = (event as InputEvent).inputType !== "insertText" && suggestions.includes(text);
              if (chosen || text.includes(",")) add(text);
              else type(text);
            }}
            onBlur={() => add(typed.value)}
            onKeyDown={(event) => {
              if (event.key === "Enter") {
                event.preventDefault();
                add(typed.value);
              }
              if (event.key === "Backspace" && typed.value === "") onInput(value.slice(0, -1));
            }}
          />
          <datalist id={`${control.id}-list`}>
            {suggestions
              .filter((name) => !chips.includes(name))
              .map((name) => (
                <option key={name} value={name} />
              ))}
          </datalist>
        </div>
      )}
    />
  );
}
