/**
 * The bars of a table: search and count above, the number of new rows, actions for the selected rows below.
 */
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
  readonly children: ComponentChildren;
}

export function TableTools({ search = "", onSearch, placeholder, shown, all, children }: TableToolsProps) {
  return (
    <div class="table-tools">
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
    </div>
  );
}

export interface NewRowsBarProps {
  readonly count: number;
  readonly onShow: () => void;
}

/** Must be a direct child of the frame of the table, which it scrolls into view. */
export function NewRowsBar({ count, onShow }: NewRowsBarProps) {
  return (
    <button
      type="button"
      class="table-news"
      onClick={(event) => {
        onShow();
        event.currentTarget.parentElement?.scrollIntoView({ block: "nearest" });
      }}
    >
      {texts.news(count)}
    </button>
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
