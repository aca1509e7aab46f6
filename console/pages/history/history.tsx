/** Revisions of the config: what changed, by whom, and the way back. */
import { Ago } from "../../ago.tsx";
import type { Revision } from "../../api/types.ts";
import { EmptyState } from "../../components/empty-state.tsx";
import { ForeignText } from "../../components/foreign-text.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { count } from "../../format.ts";
import { CONFIG, useList } from "../../live/resource.ts";
import { address, go, setQuery } from "../../navigate.ts";
import { PageHead } from "../../shell/page-head.tsx";
import { Ready } from "../../shell/ready.tsx";
import { historyTexts as texts } from "../../texts/records.ts";
import { RevisionDrawer } from "./revision-drawer.tsx";

const { columns } = texts;
const COLUMNS: readonly Column<Revision>[] = [
  {
    id: "n",
    head: columns.n,
    width: "90px",
    align: "end",
    value: ({ n }) => n,
    cell: ({ n }) => count(n),
  },
  {
    id: "summary",
    head: columns.summary,
    primary: true,
    value: ({ summary }) => summary,
    cell: ({ summary }) => <ForeignText text={summary} />,
  },
  { id: "who", head: columns.who, width: "200px", hideBelow: "small", value: ({ who }) => who.name },
  {
    id: "at",
    head: columns.at,
    width: "110px",
    value: ({ at }) => at,
    cell: ({ at }) => <Ago at={at} />,
  },
];

export default function History() {
  const { id, query } = address.value;
  const revisions = useList("/revisions", {}, CONFIG);
  const newest = revisions.value.value?.[0]?.n ?? 0;
  return (
    <>
      <PageHead title={texts.title} answer={revisions.value.value && texts.answer(newest)} />
      <Ready of={revisions}>
        {(items) => (
          <Table
            label={texts.list}
            rows={items}
            columns={COLUMNS}
            rowKey={({ n }) => String(n)}
            rowName={({ n }) => texts.revision(n)}
            onOpen={({ n }) => go({ page: "history", id: String(n), query })}
            open={id}
            live
            search={query["q"]}
            onSearch={(q) => setQuery({ q })}
            searchLabel={texts.search}
            empty={
              <EmptyState title={texts.empty.title}>
                <p>{texts.empty.text}</p>
              </EmptyState>
            }
          />
        )}
      </Ready>
      {id && <RevisionDrawer key={id} n={Number(id)} newest={newest} />}
    </>
  );
}
