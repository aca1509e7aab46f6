/** A namespace as a column of the table of tools. */
import type { ToolTable } from "../../api/types.ts";

/** More would leave no room for the rest: then one namespace is chosen. */
const MOST_COLUMNS = 3;

/** A namespace that is shown, and its place in the table. */
export interface Place {
  readonly at: string;
  readonly uuid: string;
  readonly name: string;
  /** Only a file changes it. */
  readonly managed: boolean;
}

export function placesOf({ namespaces }: ToolTable, chosen?: string): readonly Place[] {
  const all = namespaces.map(({ uuid, name, managedBy }, at) => ({
    at: String(at),
    uuid,
    name,
    managed: managedBy !== "api",
  }));
  const wanted = all.filter(({ uuid, name }) => uuid === chosen || name === chosen);
  if (wanted.length > 0) return wanted;
  return all.length <= MOST_COLUMNS ? all : [];
}
