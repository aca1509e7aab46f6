/** How a page begins: its name, the one sentence that its reader came for, and what can be done here. */
import type { ComponentChildren } from "preact";

export interface PageHeadProps {
  readonly title: string;
  /** "2 of 14 servers need attention". */
  readonly answer?: ComponentChildren;
  readonly actions?: ComponentChildren;
}

export function PageHead({ title, answer, actions }: PageHeadProps) {
  return (
    <header class="page-head">
      <div class="page-head-text">
        <h1>{title}</h1>
        <p class="page-answer">{answer || "\u00a0"}</p>
      </div>
      {actions && <div class="line page-actions">{actions}</div>}
    </header>
  );
}
