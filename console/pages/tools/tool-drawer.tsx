/** The drawer of a tool: description, rules of a namespace, schemas, changes since the approval. */
import type { ComponentChildren } from "preact";
import { hrefOf } from "../../address.ts";
import type { ToolTable } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { Drawer } from "../../components/drawer.tsx";
import { ForeignText } from "../../components/foreign-text.tsx";
import { JsonTree } from "../../components/json-tree.tsx";
import { KeyValues } from "../../components/key-values.tsx";
import { Tabs } from "../../components/tabs.tsx";
import { count, exactly, size } from "../../format.ts";
import { STATES, useResource } from "../../live/resource.ts";
import { address, go, setQuery } from "../../navigate.ts";
import { UsageCharts } from "../../parts/usage-charts.tsx";
import { may } from "../../session.ts";
import { Ready } from "../../shell/ready.tsx";
import { toolsTexts } from "../../texts/tools.ts";
import { ChangeTab } from "./change-tab.tsx";
import { OverrideTab } from "./override-tab.tsx";
import { awaitsApproval, type ToolTableRow } from "./tool-row.ts";

const texts = toolsTexts.drawer;

interface ToolDrawerProps {
  readonly row: ToolTableRow;
  readonly table: ToolTable;
}

export function ToolDrawer({ row, table }: ToolDrawerProps) {
  const { query } = address.value;
  const { tool } = row;
  const { tab = tool.changed ? "change" : "about", ...rest } = query;
  const shown: Readonly<Record<string, () => ComponentChildren>> = {
    about: () => <About row={row} since={table.since} />,
    ...(may("namespaces.write") && { override: () => <OverrideTab row={row} table={table} /> }),
    schema: () => <SchemaTab row={row} />,
    ...(tool.changed && { change: () => <ChangeTab row={row} table={table} /> }),
  };
  const names = Object.keys(shown) as (keyof typeof labels)[];
  const active = shown[tab] ? tab : "about";
  const { label, ...labels } = texts.tabs;
  return (
    <Drawer
      title={tool.tool}
      titleMono
      subtitle={<ForeignText text={row.server} />}
      onClose={() => go({ page: "tools", query: rest })}
      actions={
        may("endpoints.try") && (
          <Button href={hrefOf({ page: "try", query: { server: tool.server, tool: tool.tool } })}>
            {texts.tryIt}
          </Button>
        )
      }
    >
      <Tabs
        label={label}
        tabs={names.map((id) => ({ id, label: labels[id] }))}
        active={active}
        onChange={(to) => setQuery({ tab: to })}
      >
        {shown[active]?.()}
      </Tabs>
    </Drawer>
  );
}

interface AboutProps {
  readonly row: ToolTableRow;
  /** Since when calls are counted. */
  readonly since: string;
}

function About({ row: { tool, server }, since }: AboutProps) {
  const annotations = Object.entries(tool.annotations ?? {}).map(([name, value]) => `${name}: ${value}`);
  return (
    <div class="stack">
      {tool.title && (
        <h3>
          <ForeignText text={tool.title} />
        </h3>
      )}
      {awaitsApproval(tool) && <p>{texts.held}</p>}
      {tool.description && (
        <p>
          <ForeignText text={tool.description} />
        </p>
      )}
      <KeyValues
        items={[
          {
            key: texts.server,
            mono: true,
            value: (
              <a href={hrefOf({ page: "servers", id: tool.server })}>
                <ForeignText text={server} />
              </a>
            ),
          },
          { key: texts.cost, value: texts.costText(size(tool.bytes), count(tool.tokens)) },
          { key: texts.calls, value: texts.since(count(tool.calls), exactly(Date.parse(since))) },
          ...(annotations.length > 0
            ? [{ key: texts.annotations, value: annotations.join(", "), mono: true }]
            : []),
        ]}
      />
      {may("stats.read") && (
        <UsageCharts filter={{ server: tool.server, tool: tool.tool }} calls={{ server, tool: tool.tool }} />
      )}
    </div>
  );
}

function SchemaTab({ row: { tool } }: { readonly row: ToolTableRow }) {
  const held = awaitsApproval(tool);
  const params = held ? undefined : { uuid: tool.server, tool: tool.tool };
  const detail = useResource("/mcp-servers/:uuid/tools/:tool", params, STATES);
  if (held) return <p>{texts.held}</p>;
  return (
    <Ready of={detail}>
      {({ definition }) => {
        const { inputSchema, outputSchema } = (definition ?? {}) as Readonly<Record<string, unknown>>;
        return (
          <div class="stack">
            <h3>{texts.input}</h3>
            <JsonTree label={texts.input} value={inputSchema} />
            <h3>{texts.output}</h3>
            {outputSchema === undefined ? (
              <p class="muted">{texts.noOutput}</p>
            ) : (
              <JsonTree label={texts.output} value={outputSchema} />
            )}
          </div>
        );
      }}
    </Ready>
  );
}
