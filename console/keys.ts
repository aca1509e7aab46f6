/**
 * Keyboard shortcuts that work on every page. While the focus is in a field, only the one with Ctrl or Cmd
 * works.
 */

export interface GlobalKeys {
  readonly palette: () => void;
  readonly help: () => void;
}

/** The label of the command key on this person's keyboard. */
export const COMMAND_KEY = /mac|iphone|ipad/i.test(navigator.userAgent) ? "⌘" : "Ctrl";

/** Returns a function that stops listening. */
export function listenToKeys({ palette, help }: GlobalKeys): () => void {
  const onKey = (event: KeyboardEvent): void => {
    if ((event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === "k") {
      event.preventDefault();
      palette();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isTyping(event.target))
      return;
    if (document.querySelector("dialog:modal")) return;
    if (event.key === "?") {
      event.preventDefault();
      help();
    } else if (event.key === "/" && focusSearch()) event.preventDefault();
  };
  document.addEventListener("keydown", onKey);
  return () => document.removeEventListener("keydown", onKey);
}

/**
 * Focuses the search field of an open dialog, or else the one of the page. Returns false if there is none.
 */
function focusSearch(): boolean {
  const field =
    document.querySelector<HTMLInputElement>("dialog[open] input[type=search]") ??
    document.querySelector<HTMLInputElement>("main input[type=search]");
  field?.focus();
  field?.select();
  return field !== null;
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}
