/** Lists the servers that models asked for. */
import type { ReadonlySignal } from "@preact/signals";
import type { ProvisionRequest } from "../../api/types.ts";
import { ForeignText } from "../../components/foreign-text.tsx";
import type { Column } from "../../components/table.tsx";
import type { Loaded } from "../../live/resource.ts";
import { go } from "../../navigate.ts";
import { requestsTexts } from "../../texts/requests.ts";
import { RequestTable } from "./request-table.tsx";
import { ServerRequestDrawer } from "./server-request-drawer.tsx";

const texts = requestsTexts.servers;
const STATES = { pending: "warn", approved: "ok", refused: "bad" } as const;

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
];

interface ServerRequestsProps {
  readonly of: ReadonlySignal<Loaded<readonly ProvisionRequest[]>>;
  readonly open: string | undefined;
}

export function ServerRequests({ of, open }: ServerRequestsProps) {
  return (
    <RequestTable
      of={of}
      open={open}
      onOpen={({ uuid }) => go({ page: "requests", id: uuid, query: { tab: "servers" } })}
      columns={COLUMNS}
      states={STATES}
      texts={texts}
      drawer={(request) => <ServerRequestDrawer key={request.uuid} request={request} />}
    />
  );
}
