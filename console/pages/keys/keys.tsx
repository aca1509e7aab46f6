/** API keys: one's own, or all of them for administrators. */
import { Ago } from "../../ago.tsx";
import type { ApiKey } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { ForeignText } from "../../components/foreign-text.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { useList } from "../../live/resource.ts";
import { address, go, setQuery } from "../../navigate.ts";
import { may } from "../../session.ts";
import { PageHead } from "../../shell/page-head.tsx";
import { Ready } from "../../shell/ready.tsx";
import { keysTexts as texts } from "../../texts/keys.ts";
import { KeyDrawer } from "./key-drawer.tsx";
import { type KeyRow, keyRow } from "./key-row.ts";
import { NewKey } from "./new-key.tsx";
import { useEndpointNames, useOwners } from "./use-names.ts";

const { columns } = texts;
const COLUMNS: readonly Column<KeyRow>[] = [
  {
    id: "name",
    head: columns.name,
    value: ({ key }) => key.name,
    cell: ({ key }) => (
      <strong>
        <ForeignText text={key.name} />
      </strong>
    ),
  },
  { id: "opens", head: columns.opens, value: ({ opens }) => opens },
  { id: "owner", head: columns.owner, value: ({ owner }) => owner, hideBelow: "medium" },
  {
    id: "prefix",
    head: columns.prefix,
    value: ({ key }) => key.prefix,
    mono: true,
    width: "150px",
    hideBelow: "large",
  },
  {
    id: "used",
    head: columns.lastUsed,
    width: "110px",
    value: ({ key }) => key.lastUsedAt ?? "",
    cell: ({ key }) => (key.lastUsedAt ? <Ago at={key.lastUsedAt} /> : texts.never),
  },
  {
    id: "expires",
    head: columns.expires,
    width: "110px",
    hideBelow: "small",
    value: ({ key }) => key.expiresAt ?? "",
    cell: ({ key, expired }) =>
      expired ? texts.expired : key.expiresAt ? <Ago at={key.expiresAt} /> : texts.never,
  },
];

export default function Keys() {
  const { id, query } = address.value;
  const keys = useList("/api-keys", {}, { when: (event) => event.type === "admin" });
  const endpoints = useEndpointNames();
  const users = useOwners();
  const rowOf = (key: ApiKey) => keyRow(key, { endpoints, users, now: Date.now() });
  const create = may("keys.write") && (
    <Button kind="primary" onClick={() => setQuery({ new: "1" }, { replace: false })}>
      {texts.create}
    </Button>
  );
  const all = keys.value.value;
  return (
    <>
      <PageHead
        title={texts.title}
        answer={all && texts.answer(all.length, all.filter(({ lastUsedAt }) => !lastUsedAt).length)}
        actions={create}
      />
      <Ready of={keys}>
        {(items) => {
          const open = items.find(({ uuid }) => uuid === id);
          return (
            <>
              <Table
                label={texts.list}
                rows={items.map(rowOf)}
                columns={COLUMNS}
                rowKey={({ key }) => key.uuid}
                rowName={({ key }) => key.name}
                onOpen={({ key }) => go({ page: "keys", id: key.uuid, query })}
                open={id}
                search={query["q"]}
                onSearch={(q) => setQuery({ q })}
                searchLabel={texts.search}
                empty={
                  <EmptyState title={texts.empty.title} action={create}>
                    <p>{texts.empty.text}</p>
                  </EmptyState>
                }
              />
              {open && <KeyDrawer key={open.uuid} row={rowOf(open)} />}
            </>
          );
        }}
      </Ready>
      {query["new"] && may("keys.write") && <NewKey onClose={() => setQuery({ new: undefined })} />}
    </>
  );
}
