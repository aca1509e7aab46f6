/** The head of a page: its name, one sentence with the most important fact, and its actions. */
import type { ComponentChildren } from "preact";

export interface PageHeadProps {
  readonly title: string;
  /** "2 of 14 servers need attention". */
  readonly summary?: ComponentChildren;
  readonly actions?: ComponentChildren;
}

export function PageHead({ title, summary, actions }: PageHeadProps) {
  return (
    <header class="page-head">
      <div class="page-head-text">
        <h1>{title}</h1>
        <p class="page-summary">{summary || "\u00a0"}</p>
      </div>
      {actions && <div class="line page-actions">{actions}</div>}
    </header>
  );
}
