/** Lists the tools of a server. */
import { useSignal } from "@preact/signals";
import type { Server, ToolRow } from "../../api/types.ts";
import { ForeignText } from "../../components/foreign-text.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { STATES, useList } from "../../live/resource.ts";
import { go } from "../../navigate.ts";
import { Ready } from "../../shell/ready.tsx";
import { serverTexts } from "../../texts/servers.ts";
import { toolsTexts } from "../../texts/tools.ts";
import { keyOf, tierOf } from "../tools/tool-row.ts";
import { ServerSigns } from "./server-signs.tsx";

const texts = serverTexts.tools;
const { tiers } = toolsTexts;

const COLUMNS: readonly Column<ToolRow>[] = [
  { id: "name", head: texts.columns.name, value: ({ tool }) => tool, mono: true, width: "34%" },
  {
    id: "about",
    head: texts.columns.about,
    value: ({ title = "", description = "" }) => `${title} ${description}`,
    cell: ({ title, description, because }) => (
      <span class="cut" title={because ?? description}>
        <ForeignText text={because ?? description ?? title ?? ""} />
      </span>
    ),
  },
  {
    id: "kind",
    head: texts.columns.kind,
    value: ({ annotations }) => tiers[tierOf(annotations)],
    width: "100px",
    hideBelow: "small",
  },
];

export function ToolsTab({ server }: { readonly server: Server }) {
  const tools = useList("/mcp-servers/:uuid/tools", { uuid: server.uuid }, STATES);
  const search = useSignal("");
  return (
    <>
      <ServerSigns server={server} />
      <Ready of={tools}>
        {(rows) => (
          <Table
            label={serverTexts.tabs.tools}
            rows={rows}
            columns={COLUMNS}
            rowKey={({ tool }) => tool}
            onOpen={(row) => go({ page: "tools", id: keyOf(row) })}
            search={search.value}
            onSearch={(text) => (search.value = text)}
            searchLabel={texts.search}
            empty={<p class="padded muted">{texts.none}</p>}
          />
        )}
      </Ready>
    </>
  );
}
