/** Shows a state with a shape, a word and a reason, because colour must never be the only sign. */
import type { ComponentChildren } from "preact";
import { ForeignText } from "./foreign-text.tsx";
import "./status.css";

export type State = "ok" | "busy" | "warn" | "bad" | "off";

export interface StatusProps {
  readonly state: State;
  readonly word: string;
  /** Why, and since when. May be untrusted text. */
  readonly reason?: string | undefined;
  /** A button that fixes the problem. */
  readonly action?: ComponentChildren;
}

export function Status({ state, word, reason, action }: StatusProps) {
  return (
    <span class={`status status-${state}`}>
      <StatusShape state={state} />
      <span class="status-word">{word}</span>
      {reason && (
        <span class="status-reason" title={reason}>
          <ForeignText text={reason} />
        </span>
      )}
      {action}
    </span>
  );
}

/** The shape alone, for use beside a text that names the state. */
export function StatusShape({ state }: { readonly state: State }) {
  return (
    <svg class={`status-shape status-${state}`} viewBox="0 0 12 12" width="12" height="12" aria-hidden="true">
      {SHAPES[state]}
    </svg>
  );
}

const SHAPES: Readonly<Record<State, ComponentChildren>> = {
  ok: <circle cx="6" cy="6" r="4.5" fill="currentColor" />,
  busy: (
    <g fill="none" stroke="currentColor" stroke-width="2">
      <circle cx="6" cy="6" r="4" opacity="0.3" />
      <path d="M6 2a4 4 0 0 1 4 4" stroke-linecap="round" />
    </g>
  ),
  warn: <path d="M6 1.2 11.4 10.8H.6z" fill="currentColor" />,
  bad: <path d="M6 .6 11.4 6 6 11.4.6 6z" fill="currentColor" />,
  off: <circle cx="6" cy="6" r="4" fill="none" stroke="currentColor" stroke-width="1.6" />,
};
