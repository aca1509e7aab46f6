/** The colour theme: light, dark or that of the system. The choice is stored in this browser. */
import { type ReadonlySignal, signal } from "@preact/signals";

export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

const KEY = "metamcp.theme";
const chosen = signal<Theme>(THEMES.find((one) => one === stored()) ?? "system");

export const theme: ReadonlySignal<Theme> = chosen;

export function chooseTheme(next: Theme): void {
  chosen.value = next;
  applyTheme();
  try {
    localStorage.setItem(KEY, next);
  } catch {
    // Without local storage the choice lasts until the page is closed.
  }
}

export function applyTheme(): void {
  const { dataset } = document.documentElement;
  if (chosen.peek() === "system") delete dataset["theme"];
  else dataset["theme"] = chosen.peek();
}

function stored(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}
