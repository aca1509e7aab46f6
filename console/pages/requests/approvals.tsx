/** Lists calls that wait for approval, and decided ones. */
import type { ReadonlySignal } from "@preact/signals";
import { Ago } from "../../ago.tsx";
import type { Approval } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { ForeignText } from "../../components/foreign-text.tsx";
import type { Column } from "../../components/table.tsx";
import type { Loaded } from "../../live/resource.ts";
import { go } from "../../navigate.ts";
import { requestsTexts } from "../../texts/requests.ts";
import { ApprovalDrawer } from "./approval-drawer.tsx";
import { RequestTable } from "./request-table.tsx";
import { RuleLink } from "./rule-link.tsx";
import { TimeLeft } from "./time-left.tsx";
import { useDecision } from "./use-decision.ts";

const texts = requestsTexts.calls;
const STATES = { waiting: "warn", approved: "ok", refused: "bad", expired: "off", withdrawn: "off" } as const;

const { columns } = texts;
const COLUMNS: readonly Column<Approval>[] = [
  {
    id: "tool",
    head: texts.toolAndArguments,
    mono: true,
    value: (approval) => `${approval.name} ${shortArguments(approval)}`,
    cell: (approval) => (
      <span class="approval-call" title={shortArguments(approval)}>
        <ForeignText text={approval.name} /> <span class="muted">{shortArguments(approval)}</span>
      </span>
    ),
  },
  {
    id: "kind",
    head: texts.kind,
    width: "100px",
    value: ({ tier }) => tier && texts.tiers[tier],
    cell: ({ tier }) =>
      tier && (
        <span title={texts.tiers[tier]} class={tier === "destructive" ? "approval-danger" : ""}>
          {texts.tiersShort[tier]}
        </span>
      ),
  },
  {
    id: "who",
    head: columns.who,
    width: "160px",
    value: ({ principal }) => principal.name,
  },
  {
    id: "reason",
    head: columns.reason,
    width: "100px",
    hideBelow: "large",
    cell: (approval) => <RuleLink approval={approval} />,
  },
  {
    id: "endpoint",
    head: columns.endpoint,
    mono: true,
    width: "90px",
    hideBelow: "large",
    value: ({ endpoint }) => endpoint.name,
  },
];

const DECIDING: readonly Column<Approval>[] = [
  {
    id: "decide",
    head: texts.decide,
    width: "170px",
    below: true,
    cell: (approval) =>
      approval.decidable ? <DecideInRow approval={approval} /> : <Decided of={approval} />,
  },
];

/** By whom, or how long ago nobody did. */
function Decided({ of: { state, decidedBy, decidedAt, expiresAt } }: { readonly of: Approval }) {
  if (state === "waiting") return null;
  const at = decidedAt ?? (state === "expired" ? expiresAt : undefined);
  return (
    <span class="muted" title={decidedBy?.name}>
      {at !== undefined && <Ago at={at} />}
      {decidedBy && (
        <>
          , <ForeignText text={decidedBy.name} />
        </>
      )}
    </span>
  );
}

/** `{"table": "orders", "cascade": true}` as `table orders, cascade true`. */
function shortArguments({ arguments: args }: Approval): string {
  if (typeof args !== "object" || args === null) return JSON.stringify(args ?? "");
  return Object.entries(args)
    .map(([name, value]) => `${name} ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(", ")
    .slice(0, 300);
}

function DecideInRow({ approval: { uuid, name } }: { readonly approval: Approval }) {
  const { sending, decide } = useDecision(uuid);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions lint/a11y/useKeyWithClickEvents: keeps the row closed
    <span class="line" onClick={(event) => event.stopPropagation()}>
      <Button
        size="small"
        kind="primary"
        busy={sending.busy}
        label={texts.approveOne(name)}
        onClick={() => void decide("approve")}
      >
        {texts.approveRow}
      </Button>
      <Button size="small" label={texts.refuseOne(name)} onClick={() => void decide("refuse")}>
        {texts.refuse}
      </Button>
    </span>
  );
}

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
      ending={DECIDING}
      beside={({ state, at, expiresAt }) =>
        state === "waiting" ? <TimeLeft at={at} until={expiresAt} /> : undefined
      }
      states={STATES}
      texts={texts}
      drawer={(approval) => <ApprovalDrawer key={approval.uuid} approval={approval} />}
    />
  );
}
