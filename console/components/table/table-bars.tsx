/** The bars of a table: search, count and number of new rows above, actions for the selected rows below. */
import type { ComponentChildren } from "preact";
import { componentTexts } from "../../texts/components.ts";
import { Button } from "../button.tsx";

const texts = componentTexts.table;

export interface TableToolsProps {
  readonly search: string | undefined;
  readonly onSearch: ((text: string) => void) | undefined;
  readonly placeholder: string | undefined;
  readonly shown: number;
  readonly all: number;
  /** Rows that wait; undefined if none ever do. Their button has its place before there are any. */
  readonly news: { readonly pending: number; readonly showPending: () => void } | undefined;
  readonly children: ComponentChildren;
}

export function TableTools(props: TableToolsProps) {
  const { search = "", onSearch, placeholder, shown, all, news, children } = props;
  return (
    <div class={`table-tools${onSearch || children ? "" : " table-tools-slim"}`}>
      {onSearch && (
        <input
          type="search"
          class="input table-search"
          data-page-search
          aria-label={placeholder ?? texts.search}
          placeholder={placeholder ?? texts.search}
          value={search}
          onInput={(event) => onSearch(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== "Escape" || search === "") return;
            event.preventDefault();
            onSearch("");
          }}
        />
      )}
      {children}
      <span class="table-count number" role="status">
        {shown !== all && texts.countOf(shown, all)}
      </span>
      {news && (
        <span class="table-news">
          {news.pending > 0 && (
            <Button size="small" kind="primary" onClick={news.showPending}>
              {texts.news(news.pending)}
            </Button>
          )}
        </span>
      )}
    </div>
  );
}

export interface BulkBarProps {
  readonly selected: number;
  /** Number of selected rows that the search hides. */
  readonly hidden: number;
  readonly onClear: () => void;
  readonly children: ComponentChildren;
}

export function BulkBar({ selected, hidden, onClear, children }: BulkBarProps) {
  return (
    <div class="table-bulk" role="toolbar" aria-label={texts.bulk}>
      <span class="table-bulk-count" role="status">
        <strong>{texts.selected(selected)}</strong>
        {hidden > 0 && <span class="muted"> {texts.hidden(hidden)}</span>}
      </span>
      {children}
      <Button kind="quiet" size="small" onClick={onClear}>
        {texts.clear}
      </Button>
    </div>
  );
}
