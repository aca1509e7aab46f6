/** The page Namespaces: groups of servers, and the tools they offer there. */
import type { Endpoint, Namespace, ToolTable } from "../../api/types.ts";
import type { Column } from "../../components/table.tsx";
import { roughly } from "../../format.ts";
import { CONFIG, STATES, useList, useResource } from "../../live/resource.ts";
import { may } from "../../session.ts";
import { ListPage } from "../../shell/list-page.tsx";
import { namespacesTexts as texts } from "../../texts/namespaces.ts";
import { NamespaceDrawer } from "./namespace-drawer.tsx";
import { NewNamespace } from "./new-namespace.tsx";
import type { ToolCounts } from "./tools-tab.tsx";

interface Row {
  readonly namespace: Namespace;
  readonly servers: string;
  readonly endpoints: string;
  /** Undefined until the tools are loaded. */
  readonly tools: ToolCounts | undefined;
}

const { columns } = texts;
const COLUMNS: readonly Column<Row>[] = [
  {
    id: "name",
    head: columns.name,
    mono: true,
    value: ({ namespace }) => namespace.name,
  },
  { id: "servers", head: columns.servers, mono: true, value: ({ servers }) => servers || texts.none },
  {
    id: "endpoints",
    head: columns.endpoints,
    hideBelow: "small",
    mono: true,
    value: ({ endpoints }) => endpoints || texts.none,
  },
  {
    id: "tools",
    head: columns.tools,
    width: "110px",
    align: "end",
    hideBelow: "small",
    value: ({ tools }) => tools?.on,
    cell: ({ tools }) => tools && texts.toolsOn(tools.on, tools.all),
  },
  {
    id: "tokens",
    head: columns.tokens,
    width: "150px",
    align: "end",
    hideBelow: "medium",
    value: ({ tools }) => tools?.tokens,
    cell: ({ tools }) => tools && texts.tokens(roughly(tools.tokens)),
  },
  {
    id: "new",
    head: columns.newTools,
    width: "100px",
    hideBelow: "medium",
    value: ({ namespace }) => texts.newTools[namespace.newTools],
  },
];

export default function Namespaces() {
  const servers = useList("/mcp-servers", {}, CONFIG).value.value ?? [];
  const endpoints = useList("/endpoints", {}, CONFIG).value.value ?? [];
  const table = useResource("/tools", { limit: 10_000 }, STATES).value.value;
  const endpointsOf = ({ uuid }: Namespace): readonly Endpoint[] =>
    endpoints.filter((endpoint) => endpoint.namespaces.includes(uuid));
  const rowOf = (namespace: Namespace): Row => ({
    namespace,
    tools: table && toolsIn(namespace, table),
    servers: namespace.servers
      .map(({ server }) => servers.find(({ uuid }) => uuid === server)?.name ?? server)
      .join(", "),
    endpoints: endpointsOf(namespace)
      .map(({ name }) => name)
      .join(", "),
  });
  return (
    <ListPage
      page="namespaces"
      texts={texts}
      of={useList("/namespaces", {}, CONFIG)}
      summary={(all) => texts.summary(all.length, all.filter((one) => endpointsOf(one).length === 0).length)}
      rowsOf={(all) => all.map(rowOf)}
      columns={COLUMNS}
      rowKey={({ namespace }) => namespace.uuid}
      rowName={({ namespace }) => namespace.name}
      create={{
        label: texts.create,
        allowed: may("namespaces.write"),
        dialog: (onClose) => <NewNamespace onClose={onClose} />,
      }}
      drawer={({ namespace, tools }) => (
        <NamespaceDrawer
          key={namespace.uuid}
          namespace={namespace}
          counts={tools}
          endpoints={endpointsOf(namespace)}
        />
      )}
    />
  );
}

/** What a client would get that lists all tools. */
function toolsIn({ uuid }: Namespace, { namespaces, items }: ToolTable): Row["tools"] {
  const at = String(namespaces.findIndex((one) => one.uuid === uuid));
  const placed = items.filter((tool) => tool.in[at] !== undefined);
  const on = placed.filter((tool) => tool.in[at] === "on");
  return {
    all: placed.length,
    on: on.length,
    held: placed.filter((tool) => tool.in[at] === "held").length,
    tokens: on.reduce((sum, tool) => sum + tool.tokens, 0),
  };
}
