/** Shows the tools of a namespace: their names, and which are on. */
import { useSignal } from "@preact/signals";
import { hrefOf } from "../../address.ts";
import type { Namespace, ToolRow } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { Status } from "../../components/status.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { STATES, useList } from "../../live/resource.ts";
import { may } from "../../session.ts";
import { Ready } from "../../shell/ready.tsx";
import { namespacesTexts } from "../../texts/namespaces.ts";

const texts = namespacesTexts.tools;

const COLUMNS: readonly Column<ToolRow>[] = [
  { id: "tool", head: texts.columns.tool, mono: true, value: ({ tool }) => tool },
  { id: "name", head: texts.columns.name, mono: true, hideBelow: "small", value: ({ name }) => name },
  {
    id: "state",
    head: texts.columns.state,
    width: "45%",
    value: ({ enabled }) => (enabled ? texts.on : texts.off),
    cell: ({ enabled, missing, because }) => (
      <Status
        state={missing ? "warn" : enabled ? "ok" : "off"}
        word={enabled ? texts.on : texts.off}
        reason={missing ? texts.missing : because}
      />
    ),
  },
];

export function ToolsTab({ namespace: { uuid } }: { readonly namespace: Namespace }) {
  const tools = useList("/namespaces/:uuid/tools", { uuid }, STATES);
  const q = useSignal("");
  return (
    <Ready of={tools}>
      {(items) => (
        <div class="stack">
          <div class="line">
            <p>{texts.sentence(items.filter(({ enabled }) => enabled).length, items.length)}</p>
            {may("namespaces.write") && (
              <span class="push">
                <Button href={hrefOf({ page: "tools", query: { namespace: uuid } })}>{texts.edit}</Button>
              </span>
            )}
          </div>
          <Table
            label={namespacesTexts.tabs.tools}
            rows={items}
            columns={COLUMNS}
            rowKey={({ server, tool }) => `${server} ${tool}`}
            search={q.value}
            onSearch={(text) => (q.value = text)}
            searchLabel={texts.search}
          />
        </div>
      )}
    </Ready>
  );
}
