/** The page Sessions: the connected clients. */

import { hrefOf } from "../../address.ts";
import { Ago } from "../../ago.tsx";
import type { ClientSession } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { ForeignText } from "../../components/foreign-text.tsx";
import type { Column } from "../../components/table.tsx";
import { count } from "../../format.ts";
import { useReplicas } from "../../live/replicas.ts";
import { useList } from "../../live/resource.ts";
import { replicaColumn } from "../../parts/replica-column.tsx";
import { ListPage } from "../../shell/list-page.tsx";
import { sessionsTexts as texts } from "../../texts/records.ts";
import { SessionDrawer } from "./session-drawer.tsx";

const { columns } = texts;
const COLUMNS: readonly Column<ClientSession>[] = [
  {
    id: "client",
    head: columns.client,
    value: ({ client }) => client?.name ?? texts.unknownClient,
    cell: ({ client }) => (
      <>
        <strong>
          <ForeignText text={client?.name ?? texts.unknownClient} />
        </strong>{" "}
        <span class="muted">
          <ForeignText text={client?.version ?? ""} />
        </span>
      </>
    ),
  },
  { id: "principal", head: columns.principal, value: ({ principal }) => principal.name },
  { id: "endpoint", head: columns.endpoint, mono: true, value: ({ endpoint }) => endpoint.name },
  {
    id: "protocol",
    head: columns.protocol,
    width: "110px",
    hideBelow: "large",
    value: ({ protocolVersion }) => protocolVersion,
  },
  {
    id: "calls",
    head: columns.calls,
    width: "80px",
    align: "end",
    hideBelow: "small",
    value: ({ calls }) => calls,
    cell: ({ calls }) => count(calls),
  },
  {
    id: "seen",
    head: columns.seen,
    width: "110px",
    hideBelow: "medium",
    time: true,
    value: ({ lastSeen }) => lastSeen,
    cell: ({ lastSeen }) => <Ago at={lastSeen} />,
  },
];

const REPLICA = replicaColumn(({ replica }: ClientSession) => replica);

export default function Sessions() {
  const { ids } = useReplicas();
  return (
    <ListPage
      page="sessions"
      texts={texts}
      of={useList("/sessions", {}, { on: ["session"], everyMs: 10_000 })}
      summary={(all) => texts.summary(all.length, new Set(all.map(({ endpoint }) => endpoint.name)).size)}
      rowsOf={(all) => all}
      sorting={{ column: "seen", descending: true }}
      columns={ids.length > 1 ? [...COLUMNS, REPLICA] : COLUMNS}
      rowKey={({ id }) => id}
      rowName={({ client }) => client?.name ?? texts.unknownClient}
      live
      emptyAction={<Button href={hrefOf({ page: "endpoints" })}>{texts.empty.action}</Button>}
      drawer={(session) => <SessionDrawer key={session.id} session={session} />}
    />
  );
}
