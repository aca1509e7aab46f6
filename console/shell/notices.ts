/**
 * How many things wait for this person, for the title of the tab, and a notice of the browser for new ones.
 */
import { signal } from "@preact/signals";
import { go } from "../navigate.ts";
import { shellTexts } from "../texts/shell.ts";

/** Calls and servers that the person can decide about. */
export const waitingCount = signal(0);

export function waitingNow(n: number): void {
  const more = n > waitingCount.peek();
  waitingCount.value = n;
  if (!more || !document.hidden || !mayNotify()) return;
  // One notice, which the next replaces.
  const notice = new Notification(shellTexts.waiting.title(n), {
    body: shellTexts.waiting.text,
    tag: "metamcp-waiting",
  });
  notice.onclick = () => {
    window.focus();
    go({ page: "requests" });
    notice.close();
  };
}

export function mayNotify(): boolean {
  return "Notification" in window && Notification.permission === "granted";
}

/** Whether the browser would ask the person. Only secure pages may. */
export function mayAskToNotify(): boolean {
  return "Notification" in window && window.isSecureContext && Notification.permission === "default";
}
