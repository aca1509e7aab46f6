/**
 * `metamcp gateway import`: imports an older MetaMCP into a running gateway. Reports what could not be
 * imported.
 */
import type { Change } from "../../admin/schemas.ts";
import { type Table, UsageError } from "../../config/command-line.ts";
import { readDatabase } from "../../gateway/takeover/read-database.ts";
import { type Takeover, takeOver } from "../../gateway/takeover/take-over.ts";
import type { Command } from "../command.ts";
import { show } from "../table.ts";
import { changeTable } from "./change-table.ts";
import { GatewayClient, type Given } from "./client.ts";

const FLAGS = {
  fromMetamcp: {
    kind: "text",
    env: false,
    value: "url",
    help: "Postgres database of an older MetaMCP: postgres://…",
  },
  dryRun: { kind: "switch", env: false, help: "Only show what would change." },
  update: { kind: "switch", env: false, help: "Also change existing objects with the same name." },
} as const satisfies Table;

export const command: Command = {
  name: "gateway",
  usage: "gateway import --from-metamcp postgres://… [--dry-run] [--update]",
  summary: "Import servers, namespaces, tools, endpoints and keys of an older MetaMCP.",
  flags: FLAGS,
  takes: [0, 0],
  async run(given) {
    const { settings } = given as Given<typeof FLAGS>;
    const { fromMetamcp: url, dryRun, update, json } = settings;
    if (url === undefined || !/^postgres(ql)?:\/\//.test(url))
      throw new UsageError(`Usage: metamcp ${command.usage}`);
    const client = new GatewayClient(settings);
    const taken = takeOver(await read(url));
    const { document, keys, notes } = taken;
    const { changes } = await client.send("POST /config/diff", { document });
    const existing = changes.filter(({ op }) => op === "update");
    const report = { changes, keys: keys.length, notes, done: !dryRun && (update || existing.length === 0) };
    if (report.done) await importInto(client, taken);
    show(report, json, () => text(report, existing, dryRun));
    return report.done || dryRun ? 0 : 1;
  },
};

async function read(url: string) {
  try {
    return await readDatabase(url);
  } catch (error) {
    const [first = error] = error instanceof AggregateError ? (error.errors as unknown[]) : [];
    throw new Error(`Cannot read the database: ${(first as Error).message}`);
  }
}

/** Idempotent: after a failure it can be repeated. */
async function importInto(client: GatewayClient, { document, keys }: Takeover): Promise<void> {
  await client.send("POST /config/apply", { document });
  if (keys.length > 0) await client.send("POST /api-keys/import", { keys });
}

interface Report {
  readonly changes: readonly Change[];
  readonly keys: number;
  readonly notes: readonly string[];
  readonly done: boolean;
}

function text({ changes, keys, notes, done }: Report, existing: readonly Change[], dryRun: boolean): string {
  const names = existing.map(({ kind, name }) => `${kind} "${name}"`).join(", ");
  const end = done
    ? `Imported, with ${keys} API keys.`
    : dryRun
      ? `Nothing was changed. ${keys} API keys would be imported.`
      : `Nothing was changed: ${names} exist with other settings. --update replaces them.`;
  const differences =
    notes.length > 0 ? [`\nDifferences:\n${notes.map((note) => `- ${note}`).join("\n")}`] : [];
  return [changeTable(changes), ...differences, `\n${end}`].join("\n");
}
