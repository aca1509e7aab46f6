/** Namespaces: servers put together, with the tools they offer there. */
import type { Endpoint, Namespace } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { count } from "../../format.ts";
import { CONFIG, useList } from "../../live/resource.ts";
import { address, go, setQuery } from "../../navigate.ts";
import { may } from "../../session.ts";
import { PageHead } from "../../shell/page-head.tsx";
import { Ready } from "../../shell/ready.tsx";
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
  const { id, query } = address.value;
  const namespaces = useList("/namespaces", {}, CONFIG);
  const servers = useList("/mcp-servers", {}, CONFIG).value.value ?? [];
  const endpoints = useList("/endpoints", {}, CONFIG).value.value ?? [];
  const usersOf = ({ uuid }: Namespace): readonly Endpoint[] =>
    endpoints.filter((endpoint) => endpoint.namespaces.includes(uuid));
  const rowOf = (namespace: Namespace): Row => ({
    namespace,
    servers: namespace.servers
      .map(({ server }) => servers.find(({ uuid }) => uuid === server)?.name ?? server)
      .join(", "),
    endpoints: usersOf(namespace)
      .map(({ name }) => name)
      .join(", "),
  });
  const create = may("namespaces.write") && (
    <Button kind="primary" onClick={() => setQuery({ new: "1" }, { replace: false })}>
      {texts.create}
    </Button>
  );
  const all = namespaces.value.value;
  return (
    <>
      <PageHead
        title={texts.title}
        answer={all && texts.answer(all.length, all.filter((one) => usersOf(one).length === 0).length)}
        actions={create}
      />
      <Ready of={namespaces}>
        {(items) => {
          const open = items.find(({ uuid, name }) => uuid === id || name === id);
          return (
            <>
              <Table
                label={texts.list}
                rows={items.map(rowOf)}
                columns={COLUMNS}
                rowKey={({ namespace }) => namespace.uuid}
                rowName={({ namespace }) => namespace.name}
                onOpen={({ namespace }) => go({ page: "namespaces", id: namespace.uuid, query })}
                open={open?.uuid}
                search={query["q"]}
                onSearch={(q) => setQuery({ q })}
                searchLabel={texts.search}
                empty={
                  <EmptyState title={texts.empty.title} action={create}>
                    <p>{texts.empty.text}</p>
                  </EmptyState>
                }
              />
              {open && <NamespaceDrawer key={open.uuid} namespace={open} users={usersOf(open)} />}
            </>
          );
        }}
      </Ready>
      {query["new"] && may("namespaces.write") && (
        <NewNamespace onClose={() => setQuery({ new: undefined })} />
      )}
    </>
  );
}
