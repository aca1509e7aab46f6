/** The page History: the revisions of the config, with rollback. */
import { Ago } from "../../ago.tsx";
import type { Revision } from "../../api/types.ts";
import { ForeignText } from "../../components/foreign-text.tsx";
import type { Column } from "../../components/table.tsx";
import { count } from "../../format.ts";
import { CONFIG, useList } from "../../live/resource.ts";
import { ListPage } from "../../shell/list-page.tsx";
import { historyTexts as texts } from "../../texts/records.ts";
import { RevisionDrawer } from "./revision-drawer.tsx";

const { columns } = texts;
const COLUMNS: readonly Column<Revision>[] = [
  {
    id: "n",
    head: columns.n,
    width: "90px",
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
    time: true,
    value: ({ at }) => at,
    cell: ({ at }) => <Ago at={at} />,
  },
];

export default function History() {
  const revisions = useList("/revisions", {}, CONFIG);
  const newest = revisions.value.value?.[0]?.n ?? 0;
  return (
    <ListPage
      page="history"
      texts={texts}
      of={revisions}
      summary={() => texts.summary(newest)}
      rowsOf={(all) => all}
      columns={COLUMNS}
      rowKey={({ n }) => String(n)}
      rowName={({ n }) => texts.revision(n)}
      live
      drawer={({ n }) => <RevisionDrawer key={n} n={n} newest={newest} />}
    />
  );
}
