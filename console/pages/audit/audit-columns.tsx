/** The columns of the audit table. */
import type { AuditRecord } from "../../api/types.ts";
import { ForeignText } from "../../components/foreign-text.tsx";
import type { Column } from "../../components/table.tsx";
import { dateTime, duration, exactly } from "../../format.ts";
import { Outcome } from "../../parts/outcome.tsx";
import { auditTexts as texts } from "../../texts/records.ts";

const { columns } = texts;

export const AUDIT_COLUMNS: readonly Column<AuditRecord>[] = [
  {
    id: "at",
    head: columns.at,
    width: "150px",
    cell: ({ at }) => <time title={exactly(Date.parse(at))}>{dateTime(Date.parse(at))}</time>,
  },
  {
    id: "kind",
    head: columns.kind,
    width: "80px",
    hideBelow: "small",
    cell: ({ kind }) => texts.kinds[kind],
  },
  {
    id: "who",
    head: columns.who,
    width: "180px",
    cell: ({ principal, tried }) => <ForeignText text={principal?.name ?? tried?.email ?? "–"} />,
  },
  {
    id: "what",
    head: columns.what,
    mono: true,
    primary: true,
    cell: (record) => <ForeignText text={describeRecord(record)} />,
  },
  {
    id: "where",
    head: columns.where,
    width: "120px",
    mono: true,
    hideBelow: "medium",
    cell: ({ endpoint, address }) => <ForeignText text={endpoint?.name ?? address ?? ""} />,
  },
  {
    id: "outcome",
    head: columns.outcome,
    cell: (record) => <Outcome of={record} />,
  },
  {
    id: "duration",
    head: columns.duration,
    width: "80px",
    align: "end",
    hideBelow: "large",
    cell: ({ durationMs }) => (durationMs === undefined ? "" : duration(durationMs)),
  },
];

/** `github:create_issue` for a call, `update server github` for a change. */
export function describeRecord({ kind, server, tool, action, object, count, address }: AuditRecord): string {
  const times = count === undefined ? "" : `${count} × `;
  if (kind === "call" || kind === "begun") return `${times}${[server?.name, tool].filter(Boolean).join(":")}`;
  if (kind === "egress") return `${times}${server?.name} → ${address}`;
  return `${times}${[action, object?.kind, object?.name].filter(Boolean).join(" ")}`;
}
