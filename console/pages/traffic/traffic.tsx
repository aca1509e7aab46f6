/** The page Traffic: a live list of calls, and one call in detail. */
import { useSignal } from "@preact/signals";
import { hrefOf, type Query } from "../../address.ts";
import { urlOf } from "../../api/client.ts";
import { Button } from "../../components/button.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { SelectField } from "../../components/select-field.tsx";
import { Table } from "../../components/table.tsx";
import { useReplicas } from "../../live/replicas.ts";
import { CONFIG, useList } from "../../live/resource.ts";
import { address, go, setQuery } from "../../navigate.ts";
import { addressSorting } from "../../parts/address-sorting.ts";
import { replicaColumn } from "../../parts/replica-column.tsx";
import { may } from "../../session.ts";
import { PageHead } from "../../shell/page-head.tsx";
import { Ready } from "../../shell/ready.tsx";
import { outcomeTexts } from "../../texts/outcome.ts";
import { trafficTexts as texts } from "../../texts/traffic.ts";
import { CALL_COLUMNS } from "./call-columns.tsx";
import { OneCall } from "./one-call.tsx";
import { type CallFilters, type CallLine, useCalls } from "./use-calls.ts";

const REPLICA = replicaColumn(({ replica }: CallLine) => replica);

export default function Traffic() {
  const { id } = address.value;
  return id === undefined ? <AllCalls /> : <OneCall key={id} id={id} />;
}

function AllCalls() {
  const { query } = address.value;
  const { q } = query;
  const { ids } = useReplicas();
  const paused = useSignal(false);
  const filters = filtersIn(query);
  const calls = useCalls(filters, paused.value);
  const since = SINCE_MIN.find((minutes) => String(minutes) === query["since"]);
  const within = (rows: readonly CallLine[]) =>
    since === undefined ? rows : rows.filter(({ at }) => Date.parse(at) > Date.now() - since * 60_000);
  const all = calls.value.value && within(calls.value.value);
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
            {may("audit.read") && <Button href={olderHref(query)}>{texts.older}</Button>}
          </>
        }
      />
      <Ready of={calls}>
        {(rows) => (
          <Table
            label={texts.list}
            rows={within(rows)}
            columns={ids.length > 1 ? [...CALL_COLUMNS, REPLICA] : CALL_COLUMNS}
            rowKey={(call) => String(call.id)}
            rowName={({ server: { name }, tool }) => `${name}:${tool}`}
            onOpen={(call) => go({ page: "traffic", id: String(call.id), query })}
            live
            view={JSON.stringify([filters, since])}
            {...addressSorting()}
            search={q}
            searched
            onSearch={(text) => setQuery({ q: text })}
            searchLabel={texts.search}
            tools={<Filters />}
            {...(Object.keys(filters).length === 0 && since === undefined
              ? {
                  empty: (
                    <EmptyState title={texts.empty.title}>
                      <p>{texts.empty.text}</p>
                      <p>
                        <Button href={hrefOf({ page: "endpoints" })}>{texts.empty.connect}</Button>{" "}
                        {may("endpoints.try") && (
                          <Button href={hrefOf({ page: "try" })}>{texts.empty.tryIt}</Button>
                        )}
                      </p>
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

/** The gateway keeps the last 1,000 calls; the audit log has longer ranges. */
const SINCE_MIN = [1, 5, 15, 60] as const;
const CHOSEN = ["method", "outcome", "endpoint", "server"] as const;
/** Filters that links set. They are shown only if set. */
const LINKED = ["principal", "client", "tool", "code", "by", "session"] as const;

function filtersIn(query: Query): CallFilters {
  const names = [...CHOSEN, ...LINKED, "replica", "q"] as const;
  return Object.fromEntries(names.flatMap((name) => (query[name] ? [[name, query[name]]] : [])));
}

/** The same calls in the audit log, which has all of them. */
function olderHref({ outcome, endpoint, server, tool, client, session }: Query): string {
  return hrefOf({ page: "audit", query: { kind: "call", outcome, endpoint, server, tool, client, session } });
}

function LinkedFilters() {
  const { query } = address.value;
  return (
    <>
      {LINKED.filter((name) => query[name]).map((name) => (
        <Button
          key={name}
          size="small"
          title={texts.filters.remove}
          onClick={() => setQuery({ [name]: undefined })}
        >
          {`${texts.filters[name]}: ${query[name] ?? ""} ×`}
        </Button>
      ))}
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
  return (
    <>
      {(ids.length > 1 ? [...CHOSEN, "replica" as const] : CHOSEN).map((name) => (
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
      <SelectField
        label={texts.filters.since}
        labelHidden
        none={`${texts.filters.since}: ${texts.filters.any}`}
        value={query["since"] ?? ""}
        options={SINCE_MIN.map((minutes) => ({ value: String(minutes), label: texts.filters.last(minutes) }))}
        onInput={(value) => setQuery({ since: value || undefined })}
      />
      <LinkedFilters />
    </>
  );
}
