/** Shared by the commands for namespaces and endpoints: list, show, show tools, create, delete. */
import { type Table, UsageError } from "../../config/command-line.ts";
import type { ExitCode } from "../command.ts";
import { show, table } from "../table.ts";
import type { GatewayClient, Json } from "./client.ts";

interface ToolLine {
  readonly tool: string;
  readonly name: string;
  readonly enabled: boolean;
  readonly missing?: boolean;
  readonly because?: string;
}

export interface ObjectCommand {
  /** Path in the admin API, e.g. `/namespaces`. */
  readonly path: string;
  readonly usage: string;
  readonly head: readonly string[];
  readonly row: (object: Json) => readonly string[];
  /** The fields of a new object. */
  readonly fields: () => Json;
}

export const FORCE = {
  force: { kind: "switch", env: false, help: "With delete: also remove it from all objects that use it." },
} as const satisfies Table;

export async function runObjectCommand(
  { path, usage, head, row, fields }: ObjectCommand,
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
  const at = `${path}/${encodeURIComponent(name)}`;
  switch (verb) {
    case "show":
      show(await client.get(at), true, () => "");
      return 0;
    case "tools": {
      const items = await client.all<ToolLine>(`${at}/tools`);
      show({ items }, json, () => toolTable(items));
      return 0;
    }
    case "create": {
      const created = await client.post(path, { name, ...fields() });
      show(created, json, () => `Created "${name}".`);
      return 0;
    }
    case "delete":
      await client.delete(`${at}${force ? "?force=true" : ""}`);
      show({ deleted: name }, json, () => `Deleted "${name}".`);
      return 0;
    default:
      throw new UsageError(`Usage: metamcp ${usage}`);
  }
}

function toolTable(tools: readonly ToolLine[]): string {
  if (tools.length === 0) return "No tools are known yet.";
  const rows = tools.map(({ tool, name, enabled, missing, because = "" }) => [
    name,
    tool,
    missing ? "missing" : enabled ? "on" : "off",
    because,
  ]);
  return table(["NAME", "TOOL", "STATE", "BECAUSE"], rows);
}
