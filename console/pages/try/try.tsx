/** The page Try it: calls a tool of an endpoint, as yourself or as another account. */
import type { ReadonlySignal } from "@preact/signals";
import { hrefOf } from "../../address.ts";
import type { Endpoint, ToolRow } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { EmptyPage, EmptyState } from "../../components/empty-state.tsx";
import { ForeignText } from "../../components/foreign-text.tsx";
import { SelectField } from "../../components/select-field.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { CONFIG, type Loaded, STATES, useList } from "../../live/resource.ts";
import { address, setQuery } from "../../navigate.ts";
import { NoToolsYet } from "../../parts/no-tools-yet.tsx";
import { may } from "../../session.ts";
import { PageHead } from "../../shell/page-head.tsx";
import { Ready } from "../../shell/ready.tsx";
import { tryTexts as texts } from "../../texts/try.ts";
import { ToolTry } from "./tool-try.tsx";
import "./try.css";

type TriedEndpoint = Pick<Endpoint, "uuid" | "name"> & { readonly disabled?: boolean };

/** Members see only the endpoints that they may use. */
function useEndpoints(): ReadonlySignal<Loaded<readonly TriedEndpoint[]>> {
  const reads = may("objects.read");
  const all = useList("/endpoints", reads ? {} : undefined, CONFIG);
  const mine = useList("/me/endpoints", reads ? undefined : {}, CONFIG);
  return reads ? all : mine;
}

export default function TryIt() {
  const endpoints = useEndpoints();
  return (
    <>
      <PageHead title={texts.title} summary={texts.summary} />
      <Ready of={endpoints}>
        {(all) => {
          const { endpoint: requested } = address.value.query;
          const enabled = all.filter(({ disabled }) => !disabled);
          const endpoint =
            enabled.find(({ uuid, name }) => uuid === requested || name === requested) ?? enabled[0];
          return endpoint ? <EndpointTools endpoint={endpoint} all={enabled} /> : <NoEndpoint />;
        }}
      </Ready>
    </>
  );
}

function NoEndpoint() {
  const { title, text, action } = texts.empty;
  return (
    <EmptyPage title={title} action={<Button href={hrefOf({ page: "endpoints" })}>{action}</Button>}>
      <p>{text}</p>
    </EmptyPage>
  );
}

function NoTools() {
  const { title, text } = texts.noTools;
  return (
    <div class="panel">
      <NoToolsYet>
        <EmptyState title={title}>
          <p>{text}</p>
        </EmptyState>
      </NoToolsYet>
    </div>
  );
}

interface EndpointToolsProps {
  readonly endpoint: TriedEndpoint;
  readonly all: readonly TriedEndpoint[];
}

function EndpointTools({ endpoint, all }: EndpointToolsProps) {
  const { query } = address.value;
  const { as, server, tool } = query;
  const people = useList("/users", may("people") ? {} : undefined, {}).value.value ?? [];
  const tools = useList("/endpoints/:uuid/tools", { uuid: endpoint.uuid, as }, STATES);
  return (
    <>
      <div class="try-where">
        <SelectField
          label={texts.endpoint}
          value={endpoint.uuid}
          options={all.map(({ uuid, name }) => ({ value: uuid, label: name }))}
          onInput={(uuid) => setQuery({ endpoint: uuid, server: undefined, tool: undefined })}
        />
        {people.length > 0 && (
          <SelectField
            label={texts.as}
            none={texts.self}
            value={as ?? ""}
            options={people.map(({ uuid, email }) => ({ value: uuid, label: email }))}
            onInput={(uuid) => setQuery({ as: uuid || undefined })}
          />
        )}
      </div>
      <Ready of={tools}>
        {(items) => {
          const rows = items.map((row) => ({ ...row, serverName: row.serverName ?? row.server }));
          const open = rows.find(
            (row) => (row.server === server || row.serverName === server) && row.tool === tool,
          );
          if (rows.length === 0) return <NoTools />;
          return (
            <div class={`try-columns${open ? " try-chosen" : ""}`}>
              {open && (
                <div class="try-back">
                  <Button onClick={() => setQuery({ server: undefined, tool: undefined })}>
                    {texts.others}
                  </Button>
                </div>
              )}
              <ToolList rows={rows} open={open} />
              {open ? (
                <ToolTry
                  key={`${endpoint.uuid} ${open.server} ${open.tool} ${as}`}
                  endpoint={endpoint}
                  row={open}
                  as={as}
                  server={open.serverName}
                />
              ) : (
                <p class="try-none muted">
                  {tool === undefined ? texts.choose : <ForeignText text={texts.notThere(tool)} />}
                </p>
              )}
            </div>
          );
        }}
      </Ready>
    </>
  );
}

type Row = ToolRow & { readonly serverName: string };

const COLUMNS: readonly Column<Row>[] = [
  {
    id: "tool",
    head: texts.columns.tool,
    mono: true,
    value: ({ serverName, name, tool, title }) => [`${serverName}:${name}`, tool, title].join(" "),
    cell: ({ serverName, name, enabled }) => (
      <span class={enabled ? "" : "muted"}>
        <span class="muted">
          <ForeignText text={`${serverName}:`} />
        </span>
        <ForeignText text={name} />
        {!enabled && <span class="faint"> {texts.off}</span>}
      </span>
    ),
  },
];

interface ToolListProps {
  readonly rows: readonly Row[];
  readonly open: Row | undefined;
}

function ToolList({ rows, open }: ToolListProps) {
  const { query } = address.value;
  return (
    <Table
      label={texts.tools}
      rows={rows}
      columns={COLUMNS}
      rowKey={rowKey}
      rowName={({ name }) => name}
      onOpen={({ server, tool }) => setQuery({ server, tool }, { replace: false })}
      open={open && rowKey(open)}
      search={query["q"]}
      onSearch={(q) => setQuery({ q })}
      searchLabel={texts.search}
    />
  );
}

function rowKey({ server, tool }: ToolRow): string {
  return `${server} ${tool}`;
}
