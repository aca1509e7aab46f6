/** The columns of the table of calls. */
import { hrefOf } from "../../address.ts";
import { Ago } from "../../ago.tsx";
import { ForeignText } from "../../components/foreign-text.tsx";
import type { Column } from "../../components/table.tsx";
import { duration, size } from "../../format.ts";
import { address } from "../../navigate.ts";
import { Outcome } from "../../parts/outcome.tsx";
import { trafficTexts as texts } from "../../texts/traffic.ts";
import type { CallLine } from "./use-calls.ts";

const { columns } = texts;
/** Slower calls stand out. */
const SLOW_MS = 1_000;

export const CALL_COLUMNS: readonly Column<CallLine>[] = [
  {
    id: "at",
    head: columns.at,
    width: "100px",
    time: true,
    value: ({ at }) => at,
    cell: ({ at }) => <Ago at={at} />,
  },
  {
    id: "tool",
    head: columns.tool,
    width: "22%",
    value: calledTool,
    mono: true,
    primary: true,
    cell: (call) => (
      <>
        {call.method && <span class="muted">{texts.methods[call.method]} </span>}
        <ForeignText text={calledTool(call)} />
      </>
    ),
  },
  {
    id: "who",
    head: columns.who,
    width: "190px",
    value: ({ principal }) => principal.name,
    cell: ({ principal }) => <Only name="principal" value={principal.id} text={principal.name} />,
  },
  {
    id: "client",
    head: columns.client,
    width: "150px",
    hideBelow: "large",
    value: ({ client }) => client?.name,
    cell: ({ client }) => client && <Only name="client" value={client.name} />,
  },
  {
    id: "endpoint",
    head: columns.endpoint,
    mono: true,
    width: "100px",
    hideBelow: "medium",
    value: ({ endpoint }) => endpoint.name,
    cell: ({ endpoint }) => <Only name="endpoint" value={endpoint.name} />,
  },
  {
    id: "outcome",
    head: columns.outcome,
    value: ({ outcome }) => outcome,
    cell: (call) => <Outcome of={call} />,
  },
  {
    id: "duration",
    head: columns.duration,
    width: "80px",
    align: "end",
    hideBelow: "small",
    value: ({ durationMs }) => durationMs,
    cell: ({ durationMs }) =>
      durationMs >= SLOW_MS ? <strong>{duration(durationMs)}</strong> : duration(durationMs),
  },
  {
    id: "size",
    head: columns.size,
    width: "80px",
    align: "end",
    hideBelow: "large",
    value: ({ resultBytes }) => resultBytes,
    cell: ({ resultBytes }) => (resultBytes === undefined ? "" : size(resultBytes)),
  },
];

interface OnlyProps {
  readonly name: "principal" | "client" | "endpoint";
  readonly value: string;
  /** What is shown for the value. */
  readonly text?: string;
}

/** A value that shows only its calls when pressed. */
function Only({ name, value, text = value }: OnlyProps) {
  const { query } = address.value;
  return (
    <a
      class="quiet-link"
      href={hrefOf({ page: "traffic", query: { ...query, [name]: value } })}
      title={texts.filters.only(texts.filters[name], text)}
    >
      <ForeignText text={text} />
    </a>
  );
}

/** `server:tool`; only the name if the tool is unknown, because then it has no server. */
export function calledTool({ server, tool }: Pick<CallLine, "server" | "tool">): string {
  return server.name ? `${server.name}:${tool}` : tool;
}
