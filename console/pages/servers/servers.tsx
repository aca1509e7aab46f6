import { hrefOf } from "../../address.ts";
import type { Server } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { Table } from "../../components/table.tsx";
import { STATES, useList } from "../../live/resource.ts";
import { address, go, setQuery } from "../../navigate.ts";
import { may } from "../../session.ts";
import { PageHead } from "../../shell/page-head.tsx";
import { Ready } from "../../shell/ready.tsx";
import { serverTexts as texts } from "../../texts/servers.ts";
import { AddDrawer } from "./add-drawer.tsx";
import { Attention } from "./attention.tsx";
import { COLUMNS } from "./server-columns.tsx";
import { ServerDrawer } from "./server-drawer.tsx";
import "./servers.css";
import { useServerRows } from "./use-server-rows.ts";

export default function Servers() {
  const servers = useList("/mcp-servers", {}, STATES);
  const { id, query } = address.value;
  const all = servers.value.value;
  const add = may("servers.write") ? (
    <Button kind="primary" href={hrefOf({ page: "servers", query: { add: "paste" } })}>
      {texts.add}
    </Button>
  ) : undefined;
  return (
    <>
      <PageHead
        title={texts.title}
        answer={all && <Attention servers={all} />}
        actions={all?.length ? add : undefined}
      />
      <Ready of={servers}>
        {(items) =>
          items.length === 0 ? <Nothing add={add} /> : <List servers={items} open={id} search={query["q"]} />
        }
      </Ready>
      {id && (
        <ServerDrawer key={id} uuid={id} onClose={() => go({ page: "servers", query: { q: query["q"] } })} />
      )}
      {!id && query["add"] && may("servers.write") && (
        <AddDrawer way={query["add"]} onClose={() => setQuery({ add: undefined, find: undefined })} />
      )}
    </>
  );
}

interface ListProps {
  readonly servers: readonly Server[];
  readonly open: string | undefined;
  readonly search: string | undefined;
}

function List({ servers, open, search }: ListProps) {
  const rows = useServerRows(servers);
  return (
    <Table
      label={texts.title}
      rows={rows}
      columns={COLUMNS}
      rowKey={({ server }) => server.uuid}
      rowName={({ server }) => server.name}
      open={open}
      onOpen={({ server }) => go({ page: "servers", id: server.uuid, query: { q: search } })}
      search={search ?? ""}
      onSearch={(q) => setQuery({ q })}
      searchLabel={texts.search}
      sorting={{ column: "name", descending: false }}
    />
  );
}

function Nothing({ add }: { readonly add: preact.ComponentChildren }) {
  return (
    <div class="panel">
      <EmptyState title={texts.empty.title} action={add}>
        <p>{texts.empty.text}</p>
      </EmptyState>
    </div>
  );
}
