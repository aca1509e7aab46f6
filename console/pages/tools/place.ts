/** A namespace as a column of the table of tools. */
import type { ToolTable } from "../../api/types.ts";

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
  return wanted.length > 0 ? wanted : all;
}
