/** A time, told from now; the exact one is its title. */
import { signal } from "@preact/signals";
import { ago, exactly } from "./format.ts";

const TICK_MS = 5_000;

/** One clock for all of them. */
const now = signal(Date.now());
setInterval(() => {
  if (!document.hidden) now.value = Date.now();
}, TICK_MS);

export function Ago({ at }: { readonly at: string | number }) {
  const time = typeof at === "number" ? at : Date.parse(at);
  // The clock of the gateway may be a little ahead of ours: nothing has happened in the future.
  const shown = ago(time, Math.max(now.value, time > now.value && time - now.value < TICK_MS * 2 ? time : 0));
  return (
    <time dateTime={new Date(time).toISOString()} title={exactly(time)}>
      {shown}
    </time>
  );
}
