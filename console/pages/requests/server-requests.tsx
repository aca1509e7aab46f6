/** Servers that models asked for, with what would run. */
import type { ReadonlySignal } from "@preact/signals";
import { Ago } from "../../ago.tsx";
import type { ProvisionRequest } from "../../api/types.ts";
import { EmptyState } from "../../components/empty-state.tsx";
import { ForeignText } from "../../components/foreign-text.tsx";
import { Status } from "../../components/status.tsx";
import { type Column, Table } from "../../components/table.tsx";
import type { Loaded } from "../../live/resource.ts";
import { go } from "../../navigate.ts";
import { Ready } from "../../shell/ready.tsx";
import { requestsTexts } from "../../texts/requests.ts";
import { ServerRequestDrawer } from "./server-request-drawer.tsx";

const texts = requestsTexts.servers;
const SHAPES = { pending: "busy", approved: "ok", refused: "bad" } as const;

const { columns } = texts;
const COLUMNS: readonly Column<ProvisionRequest>[] = [
  { id: "name", head: columns.name, mono: true, value: ({ name }) => name },
  { id: "intent", head: columns.intent, cell: ({ intent }) => <ForeignText text={intent} /> },
  { id: "who", head: columns.who, hideBelow: "medium", value: ({ principal }) => principal.name },
  {
    id: "endpoint",
    head: columns.endpoint,
    mono: true,
    hideBelow: "large",
    value: ({ endpoint }) => endpoint.name,
  },
  {
    id: "state",
    head: columns.state,
    width: "120px",
    value: ({ state }) => texts.states[state],
    cell: ({ state }) => <Status state={SHAPES[state]} word={texts.states[state]} />,
  },
  { id: "at", head: columns.at, width: "100px", value: ({ at }) => at, cell: ({ at }) => <Ago at={at} /> },
];

interface ServerRequestsProps {
  readonly of: ReadonlySignal<Loaded<readonly ProvisionRequest[]>>;
  readonly open: string | undefined;
}

export function ServerRequests({ of, open }: ServerRequestsProps) {
  return (
    <Ready of={of}>
      {(items) => {
        const shown = items.find(({ uuid }) => uuid === open);
        return (
          <>
            <Table
              label={texts.list}
              rows={items}
              columns={COLUMNS}
              rowKey={({ uuid }) => uuid}
              rowName={({ name }) => name}
              onOpen={({ uuid }) => go({ page: "requests", id: uuid, query: { tab: "servers" } })}
              open={open}
              empty={
                <EmptyState title={texts.empty.title}>
                  <p>{texts.empty.text}</p>
                </EmptyState>
              }
            />
            {shown && <ServerRequestDrawer key={shown.uuid} request={shown} />}
          </>
        );
      }}
    </Ready>
  );
}
