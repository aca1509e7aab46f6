/** How long a call still waits, with a bar that shrinks. */
import { signal } from "@preact/signals";
import { exactly, timeLeft } from "../../format.ts";
import { requestsTexts } from "../../texts/requests.ts";
import "./time-left.css";

const now = signal(Date.now());
setInterval(() => {
  if (!document.hidden) now.value = Date.now();
}, 1_000);

export function TimeLeft({ at, until }: { readonly at: string; readonly until: string }) {
  const [began, end] = [Date.parse(at), Date.parse(until)];
  const left = Math.max(0, end - now.value);
  const share = end > began ? Math.min(1, left / (end - began)) : 0;
  return (
    <span class="time-left" title={exactly(end)}>
      <span>{requestsTexts.calls.left(timeLeft(left))}</span>
      <span class="time-left-bar" aria-hidden="true">
        <span style={{ width: `${share * 100}%` }} />
      </span>
    </span>
  );
}
