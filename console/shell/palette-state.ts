/**
 * Holds whether the command palette is open, and what was typed before its code, which loads on first use,
 * was there.
 */
import { type ReadonlySignal, signal } from "@preact/signals";

const open = signal(false);
export const paletteOpen: ReadonlySignal<boolean> = open;

let early = "";

export function showPalette(): void {
  early = "";
  open.value = true;
  document.addEventListener("keydown", keepTyped, true);
}

/** What was typed until now; from here on the field of the palette takes it. */
export function takeTyped(): string {
  document.removeEventListener("keydown", keepTyped, true);
  return early;
}

export function closePalette(): void {
  takeTyped();
  open.value = false;
}

function keepTyped(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape") closePalette();
  else if (event.key.length === 1) early += event.key;
  else return;
  event.preventDefault();
  event.stopPropagation();
}
