/** The page Replicas: the gateway processes on one store. */
import { Ago } from "../../ago.tsx";
import type { Replica } from "../../api/types.ts";
import { Status } from "../../components/status.tsx";
import type { Column } from "../../components/table.tsx";
import { count, percent } from "../../format.ts";
import { useList } from "../../live/resource.ts";
import { ListPage } from "../../shell/list-page.tsx";
import { replicasTexts as texts } from "../../texts/replicas.ts";
import { ReplicaDrawer } from "./replica-drawer.tsx";
import { stateOf } from "./replica-state.ts";

const { columns } = texts;
/** Each replica tells how it is every two seconds. */
const EVERY_MS = 2_000;

const COLUMNS: readonly Column<Replica>[] = [
  {
    id: "id",
    head: columns.id,
    mono: true,
    value: ({ id }) => id,
    cell: ({ id, self }) => (
      <>
        {id} {self && <span class="muted">{texts.self}</span>}
      </>
    ),
  },
  {
    id: "state",
    head: columns.state,
    value: ({ state }) => texts.states[state],
    cell: (replica) => <Status {...stateOf(replica)} />,
  },
  {
    id: "address",
    head: columns.address,
    mono: true,
    hideBelow: "medium",
    value: ({ address = texts.noAddress }) => address,
  },
  {
    id: "version",
    head: columns.version,
    width: "80px",
    hideBelow: "medium",
    value: ({ version }) => version,
  },
  {
    id: "since",
    head: columns.since,
    width: "96px",
    hideBelow: "medium",
    time: true,
    value: ({ since }) => since,
    cell: ({ since }) => <Ago at={since} />,
  },
  number("sessions", columns.sessions, ({ sessions }) => sessions),
  number("processes", columns.processes, ({ processes }) => processes),
  {
    ...number("forwarded", columns.forwarded, ({ forwarded }) => forwarded),
    hideBelow: "medium",
    cell: ({ forwarded }) => percent(forwarded, 1),
  },
  { ...number("lag", columns.lag, ({ lag }) => lag), hideBelow: "medium", cell: ({ lag }) => texts.lag(lag) },
];

function number(id: string, head: string, value: (row: Replica) => number): Column<Replica> {
  return {
    id,
    head,
    width: "92px",
    align: "end",
    hideBelow: "small",
    value,
    cell: (row) => count(value(row)),
  };
}

export default function Replicas() {
  return (
    <ListPage
      page="replicas"
      texts={texts}
      of={useList("/replicas", {}, { on: ["session", "connection"], everyMs: EVERY_MS })}
      summary={summary}
      rowsOf={(all) => all}
      columns={COLUMNS}
      rowKey={({ id }) => id}
      rowName={({ id }) => id}
      drawer={(replica) => <ReplicaDrawer key={replica.id} replica={replica} />}
    />
  );
}

function summary(all: readonly Replica[]) {
  if (all.length > 1 && all.some(({ address }) => address === undefined))
    return <Status state="warn" word={texts.unshared} />;
  const sum = (of: (row: Replica) => number): number => all.reduce((total, row) => total + of(row), 0);
  return texts.summary(
    all.length,
    sum(({ sessions }) => sessions),
    sum(({ processes }) => processes),
  );
}
