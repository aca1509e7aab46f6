/** Whether the palette is open. Its code is loaded when it first is. */
import { type ReadonlySignal, signal } from "@preact/signals";

const open = signal(false);
export const paletteOpen: ReadonlySignal<boolean> = open;

export function showPalette(): void {
  open.value = true;
}

export function closePalette(): void {
  open.value = false;
}
