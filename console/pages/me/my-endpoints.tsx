/** The endpoints that the person may use, with their addresses for clients. */
import type { MyEndpoint } from "../../api/types.ts";
import { CopyButton } from "../../components/copy-button.tsx";
import { ForeignText } from "../../components/foreign-text.tsx";
import type { Column } from "../../components/table.tsx";
import { CONFIG, useList } from "../../live/resource.ts";
import { meTexts } from "../../texts/me.ts";
import { ListSection } from "./list-section.tsx";

const texts = meTexts.endpoints;

const COLUMNS: readonly Column<MyEndpoint>[] = [
  { id: "name", head: texts.columns.name, width: "160px", mono: true, value: ({ name }) => name },
  { id: "address", head: texts.columns.address, mono: true, value: ({ url }) => url },
  {
    id: "description",
    head: texts.columns.description,
    hideBelow: "medium",
    cell: ({ description }) => <ForeignText text={description ?? ""} />,
  },
  {
    id: "copy",
    head: "",
    width: "130px",
    cell: ({ url, name }) => (
      <CopyButton text={url} size="small" label={texts.copy} name={`${texts.copy}: ${name}`} />
    ),
  },
];

export function MyEndpoints() {
  return (
    <ListSection
      texts={texts}
      of={useList("/me/endpoints", {}, CONFIG)}
      columns={COLUMNS}
      rowKey={({ uuid }) => uuid}
      rowName={({ name }) => name}
    />
  );
}
