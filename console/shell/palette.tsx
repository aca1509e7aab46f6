/** The command palette: finds pages, objects and common actions by name. */
import { useSignal } from "@preact/signals";
import { useEffect, useId, useLayoutEffect, useRef } from "preact/hooks";
import { shellTexts } from "../texts/shell.ts";
import { type Choice, matchingChoices, useChoices } from "./palette-choices.ts";
import { closePalette, takeTyped } from "./palette-state.ts";
import "./palette.css";

const MAX_SHOWN = 50;
/** The field selects from the list below it. Native HTML has the combobox role only for a datalist. */
const COMBOBOX = { role: "combobox", list: undefined, "aria-expanded": true } as const;

export default function Palette() {
  const dialog = useRef<HTMLDialogElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const typed = useSignal("");
  const at = useSignal(0);
  const id = useId();
  const all = useChoices(typed.value);
  const shown = matchingChoices(all, typed.value).slice(0, MAX_SHOWN);
  const active = Math.min(at.value, shown.length - 1);
  useLayoutEffect(() => {
    dialog.current?.showModal();
    typed.value = takeTyped();
  }, []);
  useEffect(() => {
    list.current?.children[active]?.scrollIntoView({ block: "nearest" });
  }, [active]);
  const run = (choice: Choice | undefined): void => {
    if (!choice) return;
    closePalette();
    choice.run();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const steps: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 };
    const step = steps[event.key];
    if (step !== undefined) at.value = Math.max(0, Math.min(shown.length - 1, active + step));
    else if (event.key === "Enter") run(shown[active]);
    else return;
    event.preventDefault();
  };
  return (
    <dialog
      ref={dialog}
      class="palette"
      aria-label={shellTexts.palette.title}
      onClose={closePalette}
      closedby="any"
    >
      <input
        type="search"
        class="palette-field"
        {...COMBOBOX}
        aria-controls={`${id}-list`}
        aria-activedescendant={shown[active] && `${id}-${active}`}
        aria-label={shellTexts.palette.title}
        placeholder={shellTexts.palette.placeholder}
        autocomplete="off"
        spellcheck={false}
        autofocus
        value={typed.value}
        onInput={(event) => {
          typed.value = event.currentTarget.value;
          at.value = 0;
        }}
        onKeyDown={onKeyDown}
      />
      {shown.length === 0 && <p class="palette-nothing muted">{shellTexts.palette.nothing}</p>}
      <div
        ref={list}
        id={`${id}-list`}
        class="palette-list"
        role="listbox"
        aria-label={shellTexts.palette.title}
      >
        {shown.map((choice, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field above handles keys.
          <div
            key={choice.key}
            id={`${id}-${index}`}
            class="palette-choice"
            role="option"
            tabIndex={-1}
            aria-selected={index === active}
            onClick={() => run(choice)}
            onMouseMove={() => {
              at.value = index;
            }}
          >
            <bdi class={choice.mono ? "mono cut" : "cut"}>{choice.name}</bdi>
            <span class="faint small">{choice.kind}</span>
          </div>
        ))}
      </div>
    </dialog>
  );
}
