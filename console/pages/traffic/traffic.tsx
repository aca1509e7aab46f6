/** The page Traffic: a live list of calls, and one call in detail. */
import { useSignal } from "@preact/signals";
import { urlOf } from "../../api/client.ts";
import { Button } from "../../components/button.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { SelectField } from "../../components/select-field.tsx";
import { Table } from "../../components/table.tsx";
import { useReplicas } from "../../live/replicas.ts";
import { CONFIG, useList } from "../../live/resource.ts";
import { address, go, setQuery } from "../../navigate.ts";
import { replicaColumn } from "../../parts/replica-column.tsx";
import { PageHead } from "../../shell/page-head.tsx";
import { Ready } from "../../shell/ready.tsx";
import { outcomeTexts } from "../../texts/outcome.ts";
import { trafficTexts as texts } from "../../texts/traffic.ts";
import { CALL_COLUMNS } from "./call-columns.tsx";
import { OneCall } from "./one-call.tsx";
import { type CallLine, useCalls } from "./use-calls.ts";

const REPLICA = replicaColumn(({ replica }: CallLine) => replica);

export default function Traffic() {
  const { id } = address.value;
  return id === undefined ? <AllCalls /> : <OneCall key={id} id={id} />;
}

function AllCalls() {
  const { query } = address.value;
  const { method, outcome, endpoint, server, replica, q } = query;
  const { ids } = useReplicas();
  const paused = useSignal(false);
  const filters = { method, outcome, endpoint, server, replica, q };
  const calls = useCalls(filters, paused.value);
  const all = calls.value.value;
  const countOf = (kind: string) => all?.filter((call) => call.outcome === kind).length ?? 0;
  return (
    <>
      <PageHead
        title={texts.title}
        summary={all && texts.summary(all.length, countOf("error"), countOf("refused"))}
        actions={
          <>
            <Button pressed={paused.value} onClick={() => (paused.value = !paused.value)}>
              {paused.value ? texts.resume : texts.pause}
            </Button>
            <Button href={urlOf("/calls", { ...filters, format: "jsonl" })} title={texts.exportTitle}>
              {texts.export}
            </Button>
          </>
        }
      />
      <Ready of={calls}>
        {(rows) => (
          <Table
            label={texts.list}
            rows={rows}
            columns={ids.length > 1 ? [...CALL_COLUMNS, REPLICA] : CALL_COLUMNS}
            rowKey={(call) => String(call.id)}
            rowName={({ server: { name }, tool }) => `${name}:${tool}`}
            onOpen={(call) => go({ page: "traffic", id: String(call.id), query })}
            live
            view={JSON.stringify(filters)}
            search={q}
            onSearch={(text) => setQuery({ q: text })}
            searchLabel={texts.search}
            tools={<Filters />}
            {...(!method && !outcome && !endpoint && !server && !replica && !q
              ? {
                  empty: (
                    <EmptyState title={texts.empty.title}>
                      <p>{texts.empty.text}</p>
                    </EmptyState>
                  ),
                }
              : {})}
          />
        )}
      </Ready>
    </>
  );
}

function Filters() {
  const { query } = address.value;
  const endpoints = useList("/endpoints", {}, CONFIG).value.value ?? [];
  const servers = useList("/mcp-servers", {}, CONFIG).value.value ?? [];
  const { ids } = useReplicas();
  const names = (all: readonly { readonly name: string }[]) =>
    all.map(({ name }) => ({ value: name, label: name }));
  const choices = {
    method: Object.entries(texts.methods).map(([value, label]) => ({ value, label })),
    outcome: Object.entries(outcomeTexts.words).map(([value, label]) => ({ value, label })),
    endpoint: names(endpoints),
    server: names(servers),
    replica: ids.map((id) => ({ value: id, label: id })),
  };
  const shown = ["method", "outcome", "endpoint", "server"] as const;
  return (
    <>
      {(ids.length > 1 ? [...shown, "replica" as const] : shown).map((name) => (
        <SelectField
          key={name}
          label={texts.filters[name]}
          labelHidden
          none={`${texts.filters[name]}: ${texts.filters.any}`}
          value={query[name] ?? ""}
          options={choices[name]}
          onInput={(value) => setQuery({ [name]: value || undefined })}
        />
      ))}
    </>
  );
}
