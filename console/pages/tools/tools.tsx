/** The page Tools: all tools of all servers, and their state in each namespace. */
import { useMemo } from "preact/hooks";
import { hrefOf } from "../../address.ts";
import type { ToolTable } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { SelectField } from "../../components/select-field.tsx";
import { Table } from "../../components/table.tsx";
import { STATES, useResource } from "../../live/resource.ts";
import { address, go, setQuery } from "../../navigate.ts";
import { addressSorting } from "../../parts/address-sorting.ts";
import { NoToolsYet } from "../../parts/no-tools-yet.tsx";
import { may } from "../../session.ts";
import { PageHead } from "../../shell/page-head.tsx";
import { Ready } from "../../shell/ready.tsx";
import { toolsTexts as texts } from "../../texts/tools.ts";
import { BulkSwitch } from "./bulk-switch.tsx";
import { namespaceColumns } from "./namespace-column.ts";
import { toolColumns } from "./tool-columns.tsx";
import { ToolDrawer } from "./tool-drawer.tsx";
import { rowsOf, type ToolTableRow, tierOf } from "./tool-row.ts";

/** Reads all tools at once, because the table filters and sorts them itself. */
const ALL = { limit: 10_000 };

export default function Tools() {
  const table = useResource("/tools", ALL, STATES);
  const found = table.value.value;
  const changed = found?.items.filter((tool) => tool.changed).length ?? 0;
  return (
    <>
      <PageHead
        title={texts.title}
        summary={found && texts.summary(found.total, found.servers.length, changed)}
      />
      <Ready of={table}>{(value) => <AllTools table={value} />}</Ready>
    </>
  );
}

function AllTools({ table }: { readonly table: ToolTable }) {
  const { id, query } = address.value;
  const { namespace, server, tier, changed, q } = query;
  const rows = useMemo(() => rowsOf(table), [table]);
  const namespaces = namespaceColumns(table, namespace);
  const only = namespace && namespaces.length === 1 ? namespaces[0]?.at : undefined;
  const ofServer = uuidOf(table.servers, server);
  const shown = useMemo(
    () =>
      rows.filter(
        ({ tool }) =>
          (!ofServer || tool.server === ofServer) &&
          (!tier || tierOf(tool.annotations) === tier) &&
          (!changed || tool.changed) &&
          (only === undefined || tool.in[only] !== undefined),
      ),
    [rows, ofServer, tier, changed, only],
  );
  const uuids = namespaces.map(({ uuid }) => uuid).join();
  const columns = useMemo(() => toolColumns(namespaces), [uuids, table]);
  const open = rows.find(({ key, server: name, tool }) => key === id || `${name}:${tool.tool}` === id);
  return (
    <>
      <Table
        label={texts.list}
        rows={shown}
        columns={columns}
        rowKey={({ key }) => key}
        rowName={({ server, tool }) => `${server}:${tool.tool}`}
        onOpen={({ key }) => go({ page: "tools", id: key, query })}
        open={id}
        {...addressSorting()}
        search={q}
        onSearch={(text) => setQuery({ q: text })}
        searchLabel={texts.search}
        tools={<Filters table={table} />}
        {...(may("namespaces.write") && {
          bulk: (chosen: readonly ToolTableRow[], clear: () => void) => (
            <BulkSwitch rows={chosen} namespaces={namespaces} onDone={clear} />
          ),
        })}
        empty={
          rows.length === 0 && (
            <NoToolsYet>
              <EmptyState
                title={texts.empty.title}
                action={<Button href={hrefOf({ page: "servers" })}>{texts.empty.action}</Button>}
              >
                <p>{texts.empty.text}</p>
              </EmptyState>
            </NoToolsYet>
          )
        }
      />
      {open && <ToolDrawer key={open.key} row={open} table={table} />}
    </>
  );
}

/** An address may name an object. */
function uuidOf(all: readonly { readonly uuid: string; readonly name: string }[], text = ""): string {
  return all.find(({ name }) => name === text)?.uuid ?? text;
}

function Filters({ table: { servers, namespaces, items } }: { readonly table: ToolTable }) {
  const { query } = address.value;
  const choices = ["namespace", "server"] as const;
  const anyChanged = query["changed"] !== undefined || items.some(({ changed }) => changed);
  const options = (all: readonly { readonly uuid: string; readonly name: string }[]) =>
    all.map(({ uuid, name }) => ({ value: uuid, label: name }));
  return (
    <>
      {choices.map((name) => (
        <SelectField
          key={name}
          label={texts.filters[name]}
          labelHidden
          none={`${texts.filters[name]}: ${texts.filters.all}`}
          value={uuidOf(name === "server" ? servers : namespaces, query[name])}
          options={options(name === "server" ? servers : namespaces)}
          onInput={(value) => setQuery({ [name]: value || undefined })}
        />
      ))}
      <SelectField
        label={texts.filters.tier}
        labelHidden
        none={`${texts.filters.tier}: ${texts.filters.all}`}
        value={query["tier"] ?? ""}
        options={Object.entries(texts.tiers).map(([value, label]) => ({ value, label }))}
        onInput={(value) => setQuery({ tier: value || undefined })}
      />
      {anyChanged && (
        <SelectField
          label={texts.filters.changed}
          labelHidden
          none={`${texts.filters.changed}: ${texts.filters.all}`}
          value={query["changed"] ?? ""}
          options={[{ value: "1", label: texts.changed.changed }]}
          onInput={(value) => setQuery({ changed: value || undefined })}
        />
      )}
    </>
  );
}
