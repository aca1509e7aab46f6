/**
 * Copies text to the clipboard. Also works over plain http, where browsers offer no clipboard API. Returns
 * false if it failed.
 */
export async function copyText(text: string): Promise<boolean> {
  try {
    if (navigator.clipboard) {
      await navigator.clipboard.writeText(text);
      return true;
    }
  } catch {
    // Access was denied, but `execCommand` may still be allowed.
  }
  return copyBySelection(text);
}

function copyBySelection(text: string): boolean {
  const before = document.activeElement;
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "for-screen-readers";
  // While a dialog is open, only elements inside it can get the focus.
  const host = before?.closest("dialog") ?? document.body;
  host.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  if (before instanceof HTMLElement) before.focus();
  return done;
}
