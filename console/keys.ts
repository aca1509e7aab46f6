/** Keys that work everywhere in the console. None of them is taken while somebody types, but for the one with Ctrl or Cmd. */

export interface GlobalKeys {
  readonly palette: () => void;
  readonly help: () => void;
}

/** As it stands on the keyboard of whoever looks. */
export const COMMAND_KEY = /mac|iphone|ipad/i.test(navigator.userAgent) ? "⌘" : "Ctrl";

/** Returns what ends it. */
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

/** What is open in front is searched before the page behind it. */
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
