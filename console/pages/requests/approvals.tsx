/** Calls that wait for a yes, and those that were decided. */
import type { ReadonlySignal } from "@preact/signals";
import { Ago } from "../../ago.tsx";
import type { Approval } from "../../api/types.ts";
import { EmptyState } from "../../components/empty-state.tsx";
import { ForeignText } from "../../components/foreign-text.tsx";
import { Status } from "../../components/status.tsx";
import { type Column, Table } from "../../components/table.tsx";
import type { Loaded } from "../../live/resource.ts";
import { go } from "../../navigate.ts";
import { Ready } from "../../shell/ready.tsx";
import { requestsTexts } from "../../texts/requests.ts";
import { ApprovalDrawer } from "./approval-drawer.tsx";

const texts = requestsTexts.calls;
const SHAPES = { waiting: "busy", approved: "ok", refused: "bad", expired: "off", withdrawn: "off" } as const;

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
  {
    id: "state",
    head: columns.state,
    width: "120px",
    value: ({ state }) => texts.states[state],
    cell: ({ state }) => <Status state={SHAPES[state]} word={texts.states[state]} />,
  },
  { id: "at", head: columns.at, width: "100px", value: ({ at }) => at, cell: ({ at }) => <Ago at={at} /> },
];

interface ApprovalsProps {
  readonly of: ReadonlySignal<Loaded<readonly Approval[]>>;
  readonly open: string | undefined;
}

export function Approvals({ of, open }: ApprovalsProps) {
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
              onOpen={({ uuid }) => go({ page: "requests", id: uuid })}
              open={open}
              empty={
                <EmptyState title={texts.empty.title}>
                  <p>{texts.empty.text}</p>
                </EmptyState>
              }
            />
            {shown && <ApprovalDrawer key={shown.uuid} approval={shown} />}
          </>
        );
      }}
    </Ready>
  );
}
