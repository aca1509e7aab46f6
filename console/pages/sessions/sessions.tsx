/** Clients that are connected. */
import { Ago } from "../../ago.tsx";
import type { ClientSession } from "../../api/types.ts";
import { EmptyState } from "../../components/empty-state.tsx";
import { ForeignText } from "../../components/foreign-text.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { count } from "../../format.ts";
import { useList } from "../../live/resource.ts";
import { address, go, setQuery } from "../../navigate.ts";
import { PageHead } from "../../shell/page-head.tsx";
import { Ready } from "../../shell/ready.tsx";
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
    value: ({ lastSeen }) => lastSeen,
    cell: ({ lastSeen }) => <Ago at={lastSeen} />,
  },
];

export default function Sessions() {
  const { id, query } = address.value;
  const sessions = useList("/sessions", {}, { on: ["session"], everyMs: 10_000 });
  const all = sessions.value.value;
  return (
    <>
      <PageHead
        title={texts.title}
        answer={all && texts.answer(all.length, new Set(all.map(({ endpoint }) => endpoint.name)).size)}
      />
      <Ready of={sessions}>
        {(items) => {
          const open = items.find((session) => session.id === id);
          return (
            <>
              <Table
                label={texts.list}
                rows={items}
                columns={COLUMNS}
                rowKey={(session) => session.id}
                rowName={({ client }) => client?.name ?? texts.unknownClient}
                onOpen={(session) => go({ page: "sessions", id: session.id, query })}
                open={id}
                live
                search={query["q"]}
                onSearch={(q) => setQuery({ q })}
                searchLabel={texts.search}
                empty={
                  <EmptyState title={texts.empty.title}>
                    <p>{texts.empty.text}</p>
                  </EmptyState>
                }
              />
              {open && <SessionDrawer key={open.id} session={open} />}
            </>
          );
        }}
      </Ready>
    </>
  );
}
