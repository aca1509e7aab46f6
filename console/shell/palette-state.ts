/** Holds whether the command palette is open. Kept apart from its code, which loads on first use. */
import { type ReadonlySignal, signal } from "@preact/signals";

const open = signal(false);
export const paletteOpen: ReadonlySignal<boolean> = open;

export function showPalette(): void {
  open.value = true;
}

export function closePalette(): void {
  open.value = false;
}
