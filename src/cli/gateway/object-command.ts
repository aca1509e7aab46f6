/** Shared by the commands for namespaces and endpoints: list, show, show tools, create, delete. */
import type { ItemOf, Writes } from "../../admin/route-types.ts";
import { type Table, UsageError } from "../../config/command-line.ts";
import type { ExitCode } from "../command.ts";
import { show, table } from "../table.ts";
import type { GatewayClient } from "./client.ts";

type Kind = "/namespaces" | "/endpoints";
type ToolPath = `${Kind}/:uuid/tools`;

export interface ObjectCommand<K extends Kind> {
  /** Path in the admin API. */
  readonly path: K;
  readonly usage: string;
  readonly head: readonly string[];
  readonly row: (object: ItemOf<K>) => readonly string[];
  /** The fields of a new object. */
  readonly fields: () => Omit<Writes[`POST ${K}`]["body"], "name">;
}

export const FORCE = {
  force: { kind: "switch", env: false, help: "With delete: also remove it from all objects that use it." },
} as const satisfies Table;

export async function runObjectCommand<K extends Kind>(
  { path, usage, head, row, fields }: ObjectCommand<K>,
  client: GatewayClient,
  { positionals, json, force }: { positionals: readonly string[]; json: boolean; force: boolean },
): Promise<ExitCode> {
  const [verb = "list", name] = positionals;
  if (verb === "list") {
    const items = await client.all(path);
    show({ items }, json, () => (items.length > 0 ? table(head, items.map(row)) : "None yet."));
    return 0;
  }
  if (name === undefined) throw new UsageError(`Usage: metamcp ${usage}`);
  const at = { uuid: name };
  switch (verb) {
    case "show":
      show(await client.get(`${path}/:uuid`, at), true, () => "");
      return 0;
    case "tools": {
      const tools: ToolPath = `${path}/:uuid/tools`;
      const items = await client.all(tools, at);
      show({ items }, json, () => toolTable(items));
      return 0;
    }
    case "create": {
      const created = await client.send(`POST ${path}`, { name, ...fields() });
      show(created, json, () => `Created "${name}".`);
      return 0;
    }
    case "delete":
      await client.send(`DELETE ${path}/:uuid`, undefined, { ...at, force: force || undefined });
      show({ deleted: name }, json, () => `Deleted "${name}".`);
      return 0;
    default:
      throw new UsageError(`Usage: metamcp ${usage}`);
  }
}

function toolTable(tools: readonly ItemOf<ToolPath>[]): string {
  if (tools.length === 0) return "No tools are known yet.";
  const rows = tools.map(({ tool, name, enabled, missing, because = "" }) => [
    name,
    tool,
    missing ? "missing" : enabled ? "on" : "off",
    because,
  ]);
  return table(["NAME", "TOOL", "STATE", "BECAUSE"], rows);
}
