/** The page Namespaces: groups of servers, and the tools they offer there. */
import type { Endpoint, Namespace } from "../../api/types.ts";
import type { Column } from "../../components/table.tsx";
import { count } from "../../format.ts";
import { CONFIG, useList } from "../../live/resource.ts";
import { may } from "../../session.ts";
import { ListPage } from "../../shell/list-page.tsx";
import { namespacesTexts as texts } from "../../texts/namespaces.ts";
import { NamespaceDrawer } from "./namespace-drawer.tsx";
import { NewNamespace } from "./new-namespace.tsx";

interface Row {
  readonly namespace: Namespace;
  readonly servers: string;
  readonly endpoints: string;
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
    width: "130px",
    align: "end",
    hideBelow: "medium",
    value: ({ namespace }) => namespace.tools.length,
    cell: ({ namespace }) => count(namespace.tools.length),
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
  const endpointsOf = ({ uuid }: Namespace): readonly Endpoint[] =>
    endpoints.filter((endpoint) => endpoint.namespaces.includes(uuid));
  const rowOf = (namespace: Namespace): Row => ({
    namespace,
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
      drawer={({ namespace }) => (
        <NamespaceDrawer key={namespace.uuid} namespace={namespace} endpoints={endpointsOf(namespace)} />
      )}
    />
  );
}
