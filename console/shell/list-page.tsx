/** A page that is one list: what it says, the table, the one that is open beside it, and the dialog that makes another. */
import type { ReadonlySignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import type { ShellPage } from "../address.ts";
import { Button } from "../components/button.tsx";
import { Drawer } from "../components/drawer.tsx";
import { EmptyState } from "../components/empty-state.tsx";
import { Table, type TableProps } from "../components/table.tsx";
import type { Loaded } from "../live/resource.ts";
import { address, go, setQuery } from "../navigate.ts";
import { shellTexts } from "../texts/shell.ts";
import { PageHead } from "./page-head.tsx";
import { Ready } from "./ready.tsx";

interface Creating {
  readonly label: string;
  readonly allowed: boolean;
  /** What stands in the address while it is open; `new` where nothing is said. */
  readonly query?: Readonly<Record<string, string>>;
  readonly dialog: (onClose: () => void) => ComponentChildren;
}

interface ListPageProps<Item, Row>
  extends Pick<TableProps<Row>, "columns" | "rowKey" | "live" | "sorting">,
    Required<Pick<TableProps<Row>, "rowName">> {
  readonly page: ShellPage;
  readonly texts: {
    readonly title: string;
    readonly list: string;
    readonly search: string;
    readonly empty?: { readonly title: string; readonly text: string };
  };
  readonly of: ReadonlySignal<Loaded<readonly Item[]>>;
  readonly answer: (items: readonly Item[]) => ComponentChildren;
  readonly rowsOf: (items: readonly Item[]) => readonly Row[];
  readonly create?: Creating;
  readonly drawer: (row: Row) => ComponentChildren;
}

const NEW = { new: "1" };

export function ListPage<Item, Row>(props: ListPageProps<Item, Row>) {
  const { page, texts, of, answer, rowsOf, create, drawer, ...table } = props;
  const { query } = address.value;
  const all = of.value.value;
  const opens = create?.query ?? NEW;
  const button = create?.allowed && (
    <Button kind="primary" onClick={() => setQuery(opens, { replace: false })}>
      {create.label}
    </Button>
  );
  const creates = create?.allowed && Object.keys(opens).some((name) => query[name]);
  const closed = Object.fromEntries(Object.keys(opens).map((name) => [name, undefined]));
  return (
    <>
      {/* Where nothing is there yet, what to do stands in the middle of the page. */}
      <PageHead
        title={texts.title}
        answer={all?.length ? answer(all) : undefined}
        actions={all?.length ? button : undefined}
      />
      <Ready of={of}>
        {(items) => {
          const rows = rowsOf(items);
          const open = opened(rows, table);
          return (
            <>
              <Table
                {...table}
                rows={rows}
                label={texts.list}
                onOpen={(row) => go({ page, id: table.rowKey(row), query })}
                open={open && table.rowKey(open)}
                search={query["q"]}
                onSearch={(q) => setQuery({ q })}
                searchLabel={texts.search}
                empty={
                  texts.empty && (
                    <EmptyState title={texts.empty.title} action={button}>
                      <p>{texts.empty.text}</p>
                    </EmptyState>
                  )
                }
              />
              {open ? drawer(open) : address.value.id !== undefined && <Gone page={page} />}
            </>
          );
        }}
      </Ready>
      {creates && create.dialog(() => setQuery(closed))}
    </>
  );
}

/** By its key; people write names into addresses. */
function opened<Row>(
  rows: readonly Row[],
  { rowKey, rowName }: Pick<ListPageProps<unknown, Row>, "rowKey" | "rowName">,
): Row | undefined {
  const { id } = address.value;
  if (id === undefined) return undefined;
  return rows.find((row) => rowKey(row) === id) ?? rows.find((row) => rowName(row) === id);
}

function Gone({ page }: { readonly page: ShellPage }) {
  const { query } = address.value;
  return (
    <Drawer title={shellTexts.gone.title} onClose={() => go({ page, query })}>
      <p>{shellTexts.gone.text}</p>
    </Drawer>
  );
}
