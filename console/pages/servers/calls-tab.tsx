/** Lists the last calls of a server. */
import { Ago } from "../../ago.tsx";
import type { RecentCall, Server } from "../../api/types.ts";
import { ForeignText } from "../../components/foreign-text.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { duration } from "../../format.ts";
import { useResource } from "../../live/resource.ts";
import { go } from "../../navigate.ts";
import { Outcome } from "../../parts/outcome.tsx";
import { Ready } from "../../shell/ready.tsx";
import { serverTexts } from "../../texts/servers.ts";

const texts = serverTexts.calls;
const POLL_MS = 3_000;

const COLUMNS: readonly Column<RecentCall>[] = [
  {
    id: "at",
    head: texts.columns.at,
    time: true,
    value: ({ at }) => at,
    cell: ({ at }) => <Ago at={at} />,
    width: "92px",
  },
  {
    id: "tool",
    head: texts.columns.tool,
    value: ({ tool }) => tool,
    mono: true,
    primary: true,
    width: "23%",
  },
  {
    id: "who",
    head: texts.columns.who,
    value: ({ principal }) => principal.name,
    width: "23%",
    hideBelow: "small",
  },
  {
    id: "took",
    head: texts.columns.took,
    value: ({ durationMs }) => durationMs,
    cell: ({ durationMs }) => duration(durationMs),
    align: "end",
    width: "76px",
  },
  {
    id: "outcome",
    head: texts.columns.outcome,
    value: ({ outcome, code = "" }) => `${outcome} ${code}`,
    cell: (call) => <Outcome of={call} />,
  },
];

export function CallsTab({ server }: { readonly server: Server }) {
  const calls = useResource("/calls", { server: server.uuid, limit: 100 }, { everyMs: POLL_MS });
  return (
    <Ready of={calls}>
      {({ items }) => (
        <Table
          label={texts.label}
          rows={items}
          columns={COLUMNS}
          rowKey={({ id }) => String(id)}
          live
          onOpen={({ id }) => go({ page: "traffic", id: String(id) })}
          empty={
            <p class="padded muted">
              <ForeignText text={texts.none} />
            </p>
          }
        />
      )}
    </Ready>
  );
}
