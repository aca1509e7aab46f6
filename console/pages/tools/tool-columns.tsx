/** The columns of the table of tools: the tool itself, and its state in each shown namespace. */
import { Ago } from "../../ago.tsx";
import { ForeignText } from "../../components/foreign-text.tsx";
import { Status } from "../../components/status.tsx";
import type { Column } from "../../components/table.tsx";
import { count } from "../../format.ts";
import { toolsTexts as texts } from "../../texts/tools.ts";
import { NamespaceCell } from "./namespace-cell.tsx";
import type { NamespaceColumn } from "./namespace-column.ts";
import { type ToolTableRow, tierOf } from "./tool-row.ts";

const { columns } = texts;

/** More namespaces share one column, so that there is room for the other columns. */
const MAX_NAMESPACE_COLUMNS = 3;

export function toolColumns(namespaces: readonly NamespaceColumn[]): readonly Column<ToolTableRow>[] {
  return [
    {
      id: "tool",
      head: columns.tool,
      mono: true,
      value: ({ server, tool }) => `${server}:${tool.tool}`,
      cell: ({ server, tool }) => (
        <span class="named">
          <span class="cut" title={`${server}:${tool.tool}`}>
            <span class="muted">
              <ForeignText text={`${server}:`} />
            </span>
            <ForeignText text={tool.tool} />
          </span>
          {tool.changed && <Status state="warn" word={texts.changedShort[tool.changed.kind]} />}
        </span>
      ),
    },
    {
      id: "description",
      head: columns.description,
      hideBelow: "medium",
      value: ({ tool }) => [tool.title, tool.description].filter(Boolean).join(": "),
    },
    {
      id: "tier",
      head: columns.tier,
      width: "120px",
      value: ({ tool }) => texts.tiers[tierOf(tool.annotations)],
      cell: ({ tool }) => <Tier tier={tierOf(tool.annotations)} />,
    },
    {
      id: "tokens",
      head: columns.tokens,
      width: "80px",
      align: "end",
      hideBelow: "small",
      value: ({ tool }) => tool.tokens,
      cell: ({ tool }) => count(tool.tokens),
    },
    {
      id: "used",
      head: columns.used,
      width: "100px",
      hideBelow: "large",
      time: true,
      value: ({ tool }) => tool.lastUsedAt,
      cell: ({ tool }) => (tool.lastUsedAt ? <Ago at={tool.lastUsedAt} /> : texts.never),
    },
    ...(namespaces.length <= MAX_NAMESPACE_COLUMNS
      ? namespaces.map(singleColumn)
      : [sharedColumn(namespaces)]),
  ];
}

function Tier({ tier }: { readonly tier: ReturnType<typeof tierOf> }) {
  const word = texts.tiers[tier];
  return tier === "destructive" ? <Status state="warn" word={word} /> : <span>{word}</span>;
}

function singleColumn(namespace: NamespaceColumn): Column<ToolTableRow> {
  return {
    id: namespace.uuid,
    head: columns.namespace(namespace.name),
    named: true,
    width: "130px",
    value: ({ tool }) => tool.in[namespace.at] ?? "",
    cell: ({ tool }) => <NamespaceCell tool={tool} namespace={namespace} />,
  };
}

/** One column for many namespaces: the names of those in which the tool is on. */
function sharedColumn(namespaces: readonly NamespaceColumn[]): Column<ToolTableRow> {
  const offering = ({ tool }: ToolTableRow) =>
    namespaces
      .filter(({ at }) => tool.in[at] === "on")
      .map(({ name }) => name)
      .join(", ");
  return {
    id: "namespaces",
    head: columns.namespaces,
    width: "22%",
    mono: true,
    value: offering,
    cell: (row) =>
      offering(row) ? <ForeignText text={offering(row)} /> : <span class="faint">{texts.nowhere}</span>,
  };
}
