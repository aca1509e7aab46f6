/** A table of waiting and decided requests of any kind, with the drawer of the open one. */
import type { ReadonlySignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { hrefOf } from "../../address.ts";
import { Ago } from "../../ago.tsx";
import { Button } from "../../components/button.tsx";
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
  /** Beside the state. */
  readonly beside?: (row: R) => ComponentChildren;
  /** Columns after state and time. */
  readonly ending?: readonly Column<R>[];
  readonly states: Readonly<Record<R["state"], State>>;
  readonly texts: {
    readonly list: string;
    readonly columns: { readonly state: string; readonly at: string };
    readonly states: Readonly<Record<R["state"], string>>;
    readonly empty: { readonly title: string; readonly text: string; readonly action?: string };
  };
  /** Shown if the open request is in the list. */
  readonly drawer: (row: R) => ComponentChildren;
}

export function RequestTable<R extends Row>(props: RequestTableProps<R>) {
  const { of, open, onOpen, columns, ending = [], states, texts, drawer, beside } = props;
  const all: readonly Column<R>[] = [
    ...columns,
    {
      id: "state",
      head: texts.columns.state,
      width: beside ? "130px" : "120px",
      value: ({ state }) => texts.states[state as R["state"]],
      cell: (row) =>
        beside?.(row) ?? (
          <Status state={states[row.state as R["state"]]} word={texts.states[row.state as R["state"]]} />
        ),
    },
    // The time left says enough about when.
    ...(beside ? [] : [sinceColumn<R>(texts.columns.at)]),
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
              rows={waitingFirst(items, states)}
              columns={all}
              rowKey={({ uuid }) => uuid}
              rowName={({ name }) => name}
              onOpen={onOpen}
              open={open}
              empty={
                <EmptyState
                  title={texts.empty.title}
                  action={
                    texts.empty.action && (
                      <Button href={hrefOf({ page: "endpoints" })}>{texts.empty.action}</Button>
                    )
                  }
                >
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

function sinceColumn<R extends Row>(head: string): Column<R> {
  return {
    id: "at",
    head,
    width: "100px",
    time: true,
    value: ({ at }) => at,
    cell: ({ at }) => <Ago at={at} />,
  };
}

/** What somebody must decide stands above what is decided; each in the order of the gateway. */
function waitingFirst<R extends Row>(
  rows: readonly R[],
  states: Readonly<Record<R["state"], State>>,
): readonly R[] {
  const waits = ({ state }: R) => states[state as R["state"]] === "warn";
  return [...rows.filter(waits), ...rows.filter((row) => !waits(row))];
}
