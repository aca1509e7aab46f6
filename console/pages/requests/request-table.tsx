/** A table of waiting and decided requests of any kind, with the drawer of the open one. */
import type { ReadonlySignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { Ago } from "../../ago.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { type State, Status } from "../../components/status.tsx";
import { type Column, Table } from "../../components/table.tsx";
import type { Loaded } from "../../live/resource.ts";
import { Ready } from "../../shell/ready.tsx";

interface Row {
  readonly uuid: string;
  readonly name: string;
  readonly state: string;
  readonly at: string;
}

interface RequestTableProps<R extends Row> {
  readonly of: ReadonlySignal<Loaded<readonly R[]>>;
  readonly open: string | undefined;
  readonly onOpen: (row: R) => void;
  /** All columns except the last two, state and time. */
  readonly columns: readonly Column<R>[];
  /** Columns after state and time. */
  readonly ending?: readonly Column<R>[];
  readonly states: Readonly<Record<R["state"], State>>;
  readonly texts: {
    readonly list: string;
    readonly columns: { readonly state: string; readonly at: string };
    readonly states: Readonly<Record<R["state"], string>>;
    readonly empty: { readonly title: string; readonly text: string };
  };
  /** Shown if the open request is in the list. */
  readonly drawer: (row: R) => ComponentChildren;
}

export function RequestTable<R extends Row>(props: RequestTableProps<R>) {
  const { of, open, onOpen, columns, ending = [], states, texts, drawer } = props;
  const all: readonly Column<R>[] = [
    ...columns,
    {
      id: "state",
      head: texts.columns.state,
      width: "120px",
      value: ({ state }) => texts.states[state as R["state"]],
      cell: ({ state }) => (
        <Status state={states[state as R["state"]]} word={texts.states[state as R["state"]]} />
      ),
    },
    {
      id: "at",
      head: texts.columns.at,
      width: "100px",
      value: ({ at }) => at,
      cell: ({ at }) => <Ago at={at} />,
    },
    ...ending,
  ];
  return (
    <Ready of={of}>
      {(items) => {
        const shown = items.find(({ uuid }) => uuid === open);
        return (
          <>
            <Table
              label={texts.list}
              rows={items}
              columns={all}
              rowKey={({ uuid }) => uuid}
              rowName={({ name }) => name}
              onOpen={onOpen}
              open={open}
              empty={
                <EmptyState title={texts.empty.title}>
                  <p>{texts.empty.text}</p>
                </EmptyState>
              }
            />
            {shown && drawer(shown)}
          </>
        );
      }}
    </Ready>
  );
}
