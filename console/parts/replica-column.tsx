/** The column that names the replica of a row, where there are several. */
import type { Column } from "../components/table.tsx";
import { replicasTexts as texts } from "../texts/replicas.ts";

export function replicaColumn<Row>(of: (row: Row) => string | undefined): Column<Row> {
  const value = (row: Row): string => of(row) ?? "";
  return { id: "replica", head: texts.replica, mono: true, width: "100px", hideBelow: "large", value };
}
