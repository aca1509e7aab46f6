/** The namespaces that are columns of the table of tools. */
import type { ToolTable } from "../../api/types.ts";

export interface NamespaceColumn {
  /** Key of the namespace in `TableTool.in` and `TableTool.overrides`. */
  readonly at: string;
  readonly uuid: string;
  readonly name: string;
  /** A config file manages the namespace, so the console cannot change it. */
  readonly managed: boolean;
}

/** Returns the chosen namespace (uuid or name), or all if there is no such namespace. */
export function namespaceColumns({ namespaces }: ToolTable, chosen?: string): readonly NamespaceColumn[] {
  const all = namespaces.map(({ uuid, name, managedBy }, at) => ({
    at: String(at),
    uuid,
    name,
    managed: managedBy !== "api",
  }));
  const matching = all.filter(({ uuid, name }) => uuid === chosen || name === chosen);
  return matching.length > 0 ? matching : all;
}
