/** The columns of the table of endpoints. */
import type { Endpoint } from "../../api/types.ts";
import { Status } from "../../components/status.tsx";
import type { Column } from "../../components/table.tsx";
import { count } from "../../format.ts";
import { byRange, type Range } from "../../parts/usage-range.tsx";
import { may } from "../../session.ts";
import { endpointsTexts as texts } from "../../texts/endpoints.ts";

export interface EndpointRow {
  readonly endpoint: Endpoint;
  readonly namespaces: string;
  readonly sessions: number;
  readonly calls: number;
}

const { columns } = texts;

const columnsOf = (words: string): readonly Column<EndpointRow>[] => [
  {
    id: "name",
    head: columns.name,
    mono: true,
    width: "clamp(96px, 21vw, 320px)",
    value: ({ endpoint }) => endpoint.name,
    cell: ({ endpoint }) => (
      <span class="named">
        <bdi class="cut">{endpoint.name}</bdi>
        {endpoint.disabled && <Status state="off" word={texts.disabled} />}
      </span>
    ),
  },
  { id: "surface", head: columns.surface, width: "110px", value: ({ endpoint }) => endpoint.surface },
  {
    id: "namespaces",
    head: columns.namespaces,
    hideBelow: "small",
    mono: true,
    value: ({ namespaces }) => namespaces || texts.none,
  },
  {
    id: "access",
    head: columns.access,
    width: "230px",
    hideBelow: "medium",
    value: ({ endpoint }) => accessWord(endpoint),
    cell: ({ endpoint }) =>
      endpoint.access?.public ? <Status state="warn" word={texts.access.public} /> : accessWord(endpoint),
  },
  {
    id: "sessions",
    head: columns.sessions,
    width: "90px",
    align: "end",
    hideBelow: "medium",
    value: ({ sessions }) => sessions,
    cell: ({ sessions }) => count(sessions),
  },
  {
    id: "calls",
    head: columns.calls(words),
    width: "130px",
    align: "end",
    value: ({ calls }) => calls,
    cell: ({ calls }) => count(calls),
  },
];

const COLUMNS = byRange(columnsOf);

/** The number of connected clients is shown only to people who may see sessions. */
export function endpointColumns(range: Range): readonly Column<EndpointRow>[] {
  const columns = COLUMNS[range];
  return may("sessions") ? columns : columns.filter(({ id }) => id !== "sessions");
}

/** Returns how clients authenticate, in a few words. */
function accessWord({ access }: Endpoint): string {
  if (access?.public) return texts.access.public;
  const ways = [access?.keys !== false && texts.access.keys, access?.oauth !== false && texts.access.oauth];
  const by = ways.filter(Boolean).join(", ") || texts.access.none;
  const { users = [], groups = [], roles = [] } = access?.allow ?? {};
  const who = [...groups, ...roles, ...users].join(", ");
  return access?.allow ? `${who || texts.access.none} · ${by}` : by;
}
