/** Shown instead of an empty list: its purpose, one action, one line to copy. */
import type { ComponentChildren } from "preact";
import { CopyButton } from "./copy-button.tsx";
import "./empty-state.css";

export interface EmptyStateProps {
  readonly title: string;
  readonly children?: ComponentChildren;
  readonly action?: ComponentChildren;
  /** A command or address to copy. */
  readonly line?: string;
}

/** An empty state that fills the page. */
export function EmptyPage(props: EmptyStateProps) {
  return (
    <div class="panel">
      <EmptyState {...props} />
    </div>
  );
}

export function EmptyState({ title, children, action, line }: EmptyStateProps) {
  return (
    <div class="empty-state">
      <h2>{title}</h2>
      {children && <div class="empty-state-text">{children}</div>}
      {action && <div class="line empty-state-action">{action}</div>}
      {line && <CopyLine text={line} />}
    </div>
  );
}

/** A command or address on one line, with its copy button. */
export function CopyLine({ text, name }: { readonly text: string; readonly name?: string }) {
  return (
    <div class="copy-line">
      <code class="copy-line-text">{text}</code>
      <CopyButton text={text} kind="quiet" {...(name ? { name } : {})} />
    </div>
  );
}
