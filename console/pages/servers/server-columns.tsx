/** The columns of the table of servers. */
import type { Server, Usage } from "../../api/types.ts";
import { ForeignText } from "../../components/foreign-text.tsx";
import type { Column } from "../../components/table.tsx";
import { count, duration } from "../../format.ts";
import { byRange } from "../../parts/usage-range.tsx";
import { serverTexts } from "../../texts/servers.ts";
import { commandOrUrl, shownState } from "./server-state.ts";
import { ServerState } from "./state-cell.tsx";

export interface ServerRow {
  readonly server: Server;
  readonly figures: Usage["took"][number] | undefined;
}

const { columns: heads } = serverTexts;

/** Letters for which the column has room at 1,440 pixels. */
const LONGEST = 20;

/** Failed servers come first, then connecting ones. */
const ORDER: Readonly<Record<string, number>> = { bad: 0, warn: 1, busy: 2, ok: 3, off: 4 };

export const columnsOf = (words: string): readonly Column<ServerRow>[] => [
  {
    id: "name",
    head: heads.name,
    value: ({ server }) => server.name,
    mono: true,
    width: "clamp(96px, 10vw, 200px)",
  },
  {
    id: "state",
    head: heads.state,
    value: ({ server }) => {
      const { state, word, reason = "" } = shownState(server);
      return `${ORDER[state]} ${word} ${reason}`;
    },
    cell: ({ server }) => <ServerState server={server} />,
  },
  {
    id: "reached",
    head: heads.reached,
    value: ({ server }) => commandOrUrl(server),
    cell: ({ server }) => (
      <span title={commandOrUrl(server)}>
        <ForeignText text={middleCut(commandOrUrl(server))} />
      </span>
    ),
    mono: true,
    width: "180px",
    hideBelow: "large",
  },
  {
    id: "tools",
    head: heads.tools,
    value: ({ server }) => server.status.toolCount,
    cell: ({ server: { status } }) =>
      status.toolCount === 0 && !status.connected ? <span class="faint">–</span> : count(status.toolCount),
    align: "end",
    width: "64px",
    hideBelow: "small",
  },
  {
    id: "calls",
    head: heads.calls(words),
    value: ({ figures }) => figures?.calls,
    cell: ({ figures }) => (figures ? count(figures.calls) : <span class="faint">–</span>),
    align: "end",
    width: "120px",
    hideBelow: "small",
  },
  {
    id: "p95",
    head: heads.p95,
    value: ({ figures }) => figures?.p95Ms,
    cell: ({ figures }) =>
      figures?.p95Ms === undefined ? <span class="faint">–</span> : `≈ ${duration(figures.p95Ms)}`,
    align: "end",
    width: "84px",
    hideBelow: "small",
  },
];

/** By the range of time that their figures are about. */
export const SERVER_COLUMNS = byRange(columnsOf);

/** The beginning says what runs, and the end tells servers apart. */
function middleCut(text: string): string {
  if (text.length <= LONGEST) return text;
  const head = Math.floor(LONGEST / 3);
  return `${text.slice(0, head)}…${text.slice(head + 1 - LONGEST)}`;
}
