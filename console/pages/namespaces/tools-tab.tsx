/** Shows the tools of a namespace: their names, and which are on. */
import { useSignal } from "@preact/signals";
import { hrefOf } from "../../address.ts";
import type { Namespace, ToolRow } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { ForeignText } from "../../components/foreign-text.tsx";
import { Status } from "../../components/status.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { CONFIG, STATES, useList } from "../../live/resource.ts";
import { commonGates, ownGates } from "../../parts/tool-gates.ts";
import { may } from "../../session.ts";
import { Ready } from "../../shell/ready.tsx";
import { namespacesTexts } from "../../texts/namespaces.ts";

const texts = namespacesTexts.tools;

interface NamedRow {
  readonly row: ToolRow;
  readonly server: string;
}

const columns = (common: readonly string[]): readonly Column<NamedRow>[] => [
  {
    id: "tool",
    head: texts.columns.tool,
    mono: true,
    value: nameOf,
    cell: ({ server, row: { tool } }) => (
      <span title={`${server}:${tool}`}>
        <span class="muted">
          <ForeignText text={`${server}:`} />
        </span>
        <ForeignText text={tool} />
      </span>
    ),
  },
  {
    id: "name",
    head: texts.columns.name,
    mono: true,
    width: "22%",
    hideBelow: "small",
    value: ({ row: { name, tool } }) => (name === tool ? "" : name),
  },
  {
    id: "state",
    head: texts.columns.state,
    width: "36%",
    value: ({ row: { enabled } }) => (enabled ? texts.on : texts.off),
    cell: ({ row }) => (
      <Status
        state={row.missing ? "warn" : row.enabled ? "ok" : "off"}
        word={row.enabled ? texts.on : texts.off}
        reason={row.missing ? texts.missing : reasonOf(row, common)}
      />
    ),
  },
];

function nameOf({ server, row }: NamedRow): string {
  return `${server}:${row.tool}`;
}

/** A tool that is on has a reason only if something is checked that is not checked for all. */
function reasonOf(row: ToolRow, common: readonly string[]): string | undefined {
  return row.enabled ? ownGates(row, common).join("; ") || undefined : row.because;
}

/** Of all tools, those too that nobody gets until they are approved: the table below leaves them out. */
export interface ToolCounts {
  readonly all: number;
  readonly on: number;
  readonly held: number;
  readonly tokens: number;
}

interface ToolsTabProps {
  readonly namespace: Namespace;
  /** Undefined until they are known. */
  readonly counts: ToolCounts | undefined;
}

export function ToolsTab({ namespace: { uuid }, counts }: ToolsTabProps) {
  const tools = useList("/namespaces/:uuid/tools", { uuid }, STATES);
  const servers = useList("/mcp-servers", {}, CONFIG).value.value ?? [];
  const serverOf = new Map(servers.map((server) => [server.uuid, server.name]));
  const q = useSignal("");
  return (
    <Ready of={tools}>
      {(items) => {
        const common = commonGates(items);
        return (
          <div class="stack">
            <div class="line">
              <p>{counts && texts.sentence(counts.on, counts.all, counts.held)}</p>
              {may("namespaces.write") && (
                <span class="push">
                  <Button href={hrefOf({ page: "tools", query: { namespace: uuid } })}>{texts.edit}</Button>
                </span>
              )}
            </div>
            {common.length > 0 && <p class="muted">{texts.common(common.join("; "))}</p>}
            <Table
              label={namespacesTexts.tabs.tools}
              rows={items.map((row) => ({ row, server: serverOf.get(row.server) ?? row.server }))}
              columns={columns(common)}
              rowKey={nameOf}
              search={q.value}
              onSearch={(text) => (q.value = text)}
              searchLabel={texts.search}
            />
          </div>
        );
      }}
    </Ready>
  );
}
