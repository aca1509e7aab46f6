/** Endpoints: the addresses that clients are given. */
import type { Endpoint } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { Table } from "../../components/table.tsx";
import { CONFIG, useList, useResource } from "../../live/resource.ts";
import { address, go, setQuery } from "../../navigate.ts";
import { may } from "../../session.ts";
import { PageHead } from "../../shell/page-head.tsx";
import { Ready } from "../../shell/ready.tsx";
import { endpointsTexts as texts } from "../../texts/endpoints.ts";
import { ENDPOINT_COLUMNS, type EndpointRow } from "./endpoint-columns.tsx";
import { EndpointDrawer } from "./endpoint-drawer.tsx";
import { NewEndpoint } from "./new-endpoint.tsx";

export default function Endpoints() {
  const { id, query } = address.value;
  const endpoints = useList("/endpoints", {}, CONFIG);
  const rowOf = useRows();
  const all = endpoints.value.value;
  const create = may("endpoints.write") && (
    <Button kind="primary" onClick={() => setQuery({ new: "1" }, { replace: false })}>
      {texts.create}
    </Button>
  );
  return (
    <>
      <PageHead
        title={texts.title}
        answer={
          all &&
          texts.answer(
            all.length,
            all.filter(({ disabled }) => disabled).length,
            all.filter(({ access }) => access?.public).length,
          )
        }
        actions={create}
      />
      <Ready of={endpoints}>
        {(items) => {
          const open = items.find(({ uuid, name }) => uuid === id || name === id);
          return (
            <>
              <Table
                label={texts.list}
                rows={items.map(rowOf)}
                columns={ENDPOINT_COLUMNS}
                rowKey={({ endpoint }) => endpoint.uuid}
                rowName={({ endpoint }) => endpoint.name}
                onOpen={({ endpoint }) => go({ page: "endpoints", id: endpoint.uuid, query })}
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
              {open && <EndpointDrawer key={open.uuid} endpoint={open} />}
            </>
          );
        }}
      </Ready>
      {query["new"] && may("endpoints.write") && <NewEndpoint onClose={() => setQuery({ new: undefined })} />}
    </>
  );
}

/** What other lists tell of an endpoint: names of its namespaces, clients, calls. */
function useRows(): (endpoint: Endpoint) => EndpointRow {
  const namespaces = useList("/namespaces", {}, CONFIG).value.value ?? [];
  const stats = useResource("/stats", { per: "minute", by: "endpoint" }, { everyMs: 15_000 }).value.value;
  const sessions = useList("/sessions", may("sessions") ? {} : undefined, { on: ["session"] }).value.value;
  return (endpoint) => ({
    endpoint,
    namespaces: (endpoint.namespaces ?? []).map(
      (uuid) => namespaces.find((one) => one.uuid === uuid)?.name ?? uuid,
    ),
    sessions: sessions?.filter((session) => session.endpoint.uuid === endpoint.uuid).length,
    calls: stats?.rows.find((row) => row.endpoint?.uuid === endpoint.uuid)?.calls ?? 0,
  });
}
