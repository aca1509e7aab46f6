/** A section of the page My account with a list. */
import type { ReadonlySignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { Table, type TableProps } from "../../components/table.tsx";
import type { Loaded } from "../../live/resource.ts";
import { Ready } from "../../shell/ready.tsx";

interface ListSectionProps<Row> extends Pick<TableProps<Row>, "columns" | "rowKey" | "rowName"> {
  readonly texts: { readonly title: string; readonly text: string; readonly none: string };
  readonly of: ReadonlySignal<Loaded<readonly Row[]>>;
  /** Shown below the list. */
  readonly children?: ComponentChildren;
}

export function ListSection<Row>({ texts, of, children, ...table }: ListSectionProps<Row>) {
  return (
    <section class="stack-small">
      <h2>{texts.title}</h2>
      <p class="muted">{texts.text}</p>
      <Ready of={of}>
        {(rows) =>
          rows.length === 0 ? <p>{texts.none}</p> : <Table {...table} label={texts.title} rows={rows} />
        }
      </Ready>
      {children}
    </section>
  );
}
