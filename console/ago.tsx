/** Shows a time relative to now, with the exact time as its title. */
import { signal } from "@preact/signals";
import { ago, exactly } from "./format.ts";

const TICK_MS = 5_000;

/** All instances share one clock. */
const now = signal(Date.now());
setInterval(() => {
  if (!document.hidden) now.value = Date.now();
}, TICK_MS);

export function Ago({ at }: { readonly at: string | number }) {
  const time = typeof at === "number" ? at : Date.parse(at);
  // The gateway's clock may be slightly ahead of the browser's. Such a time is shown as "just now", not as a
  // future time.
  const shown = ago(time, Math.max(now.value, time > now.value && time - now.value < TICK_MS * 2 ? time : 0));
  return (
    <time dateTime={new Date(time).toISOString()} title={exactly(time)}>
      {shown}
    </time>
  );
}
