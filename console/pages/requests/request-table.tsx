/** Requests that wait for somebody, and those that were decided, whichever kind they are of; the chosen one beside. */
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
  /** All but the last two: its state and its time. */
  readonly columns: readonly Column<R>[];
  readonly shapes: Readonly<Record<R["state"], State>>;
  readonly texts: {
    readonly list: string;
    readonly columns: { readonly state: string; readonly at: string };
    readonly states: Readonly<Record<R["state"], string>>;
    readonly empty: { readonly title: string; readonly text: string };
  };
  /** The one that is open, if it is among them. */
  readonly drawer: (row: R) => ComponentChildren;
}

export function RequestTable<R extends Row>(props: RequestTableProps<R>) {
  const { of, open, onOpen, columns, shapes, texts, drawer } = props;
  const all: readonly Column<R>[] = [
    ...columns,
    {
      id: "state",
      head: texts.columns.state,
      width: "120px",
      value: ({ state }) => texts.states[state as R["state"]],
      cell: ({ state }) => (
        <Status state={shapes[state as R["state"]]} word={texts.states[state as R["state"]]} />
      ),
    },
    {
      id: "at",
      head: texts.columns.at,
      width: "100px",
      value: ({ at }) => at,
      cell: ({ at }) => <Ago at={at} />,
    },
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
