/** A page with one list: head, table, drawer of the open row, and the dialog that creates an object. */
import type { ReadonlySignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import type { ShellPage } from "../address.ts";
import { Button } from "../components/button.tsx";
import { Drawer } from "../components/drawer.tsx";
import { EmptyState } from "../components/empty-state.tsx";
import { Table, type TableProps } from "../components/table.tsx";
import type { Loaded } from "../live/resource.ts";
import { address, go, setQuery } from "../navigate.ts";
import { addressSorting } from "../parts/address-sorting.ts";
import { shellTexts } from "../texts/shell.ts";
import { PageHead } from "./page-head.tsx";
import { Ready } from "./ready.tsx";

interface CreateAction {
  readonly label: string;
  readonly allowed: boolean;
  /** Query parameters while the dialog is open. Default: `new`. */
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
  readonly summary: (items: readonly Item[]) => ComponentChildren;
  readonly rowsOf: (items: readonly Item[]) => readonly Row[];
  readonly create?: CreateAction;
  /** The button of an empty list that is not filled here. */
  readonly emptyAction?: ComponentChildren;
  /** Beside the button that creates one. */
  readonly actions?: ComponentChildren;
  readonly drawer: (row: Row) => ComponentChildren;
}

const NEW_QUERY = { new: "1" };

export function ListPage<Item, Row>(props: ListPageProps<Item, Row>) {
  const { page, texts, of, summary, rowsOf, create, actions, emptyAction, drawer, ...table } = props;
  const { query } = address.value;
  const all = of.value.value;
  const createQuery = create?.query ?? NEW_QUERY;
  const button = create?.allowed && (
    <Button kind="primary" onClick={() => setQuery(createQuery, { replace: false })}>
      {create.label}
    </Button>
  );
  const creating = create?.allowed && Object.keys(createQuery).some((name) => query[name]);
  const closed = Object.fromEntries(Object.keys(createQuery).map((name) => [name, undefined]));
  return (
    <>
      {/* For an empty list, the empty state contains the text and the button. */}
      <PageHead
        title={texts.title}
        summary={all?.length ? summary(all) : undefined}
        actions={
          all?.length ? (
            <>
              {actions}
              {button}
            </>
          ) : undefined
        }
      />
      <Ready of={of}>
        {(items) => {
          const rows = rowsOf(items);
          const open = findOpenRow(rows, table);
          return (
            <>
              <Table
                {...table}
                rows={rows}
                label={texts.list}
                onOpen={(row) => go({ page, id: table.rowKey(row), query })}
                open={open && table.rowKey(open)}
                {...addressSorting(table.sorting)}
                search={query["q"]}
                onSearch={(q) => setQuery({ q })}
                searchLabel={texts.search}
                empty={
                  texts.empty && (
                    <EmptyState title={texts.empty.title} action={button || emptyAction}>
                      <p>{texts.empty.text}</p>
                    </EmptyState>
                  )
                }
              />
              {open ? drawer(open) : address.value.id !== undefined && <NotFoundDrawer page={page} />}
            </>
          );
        }}
      </Ready>
      {creating && create.dialog(() => setQuery(closed))}
    </>
  );
}

/** Finds the row of the address by its key, or by its name, because people type names into addresses. */
function findOpenRow<Row>(
  rows: readonly Row[],
  { rowKey, rowName }: Pick<ListPageProps<unknown, Row>, "rowKey" | "rowName">,
): Row | undefined {
  const { id } = address.value;
  if (id === undefined) return undefined;
  return rows.find((row) => rowKey(row) === id) ?? rows.find((row) => rowName(row) === id);
}

function NotFoundDrawer({ page }: { readonly page: ShellPage }) {
  const { query } = address.value;
  return (
    <Drawer title={shellTexts.gone.title} onClose={() => go({ page, query })}>
      <p>{shellTexts.gone.text}</p>
    </Drawer>
  );
}
