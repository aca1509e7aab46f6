/** Lists calls that wait for approval, and decided ones. */
import type { ReadonlySignal } from "@preact/signals";
import type { Approval } from "../../api/types.ts";
import { ForeignText } from "../../components/foreign-text.tsx";
import type { Column } from "../../components/table.tsx";
import type { Loaded } from "../../live/resource.ts";
import { go } from "../../navigate.ts";
import { requestsTexts } from "../../texts/requests.ts";
import { ApprovalDrawer } from "./approval-drawer.tsx";
import { RequestTable } from "./request-table.tsx";

const texts = requestsTexts.calls;
const STATES = { waiting: "warn", approved: "ok", refused: "bad", expired: "off", withdrawn: "off" } as const;

const { columns } = texts;
const COLUMNS: readonly Column<Approval>[] = [
  { id: "tool", head: columns.tool, mono: true, value: ({ name }) => name },
  { id: "who", head: columns.who, value: ({ principal }) => principal.name },
  {
    id: "reason",
    head: columns.reason,
    hideBelow: "large",
    cell: ({ reason }) => <ForeignText text={reason} />,
  },
  {
    id: "endpoint",
    head: columns.endpoint,
    mono: true,
    hideBelow: "medium",
    value: ({ endpoint }) => endpoint.name,
  },
];

interface ApprovalsProps {
  readonly of: ReadonlySignal<Loaded<readonly Approval[]>>;
  readonly open: string | undefined;
}

export function Approvals({ of, open }: ApprovalsProps) {
  return (
    <RequestTable
      of={of}
      open={open}
      onOpen={({ uuid }) => go({ page: "requests", id: uuid })}
      columns={COLUMNS}
      states={STATES}
      texts={texts}
      drawer={(approval) => <ApprovalDrawer key={approval.uuid} approval={approval} />}
    />
  );
}
