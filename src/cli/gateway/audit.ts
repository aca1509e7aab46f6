/** `metamcp gateway audit`: shows the audit log; `verify` checks that no record was changed. */
import { setTimeout as pause } from "node:timers/promises";
import type { Reads } from "../../admin/route-types.ts";
import { type Table, UsageError } from "../../config/command-line.ts";
import type { Command, ExitCode } from "../command.ts";
import { print, printError, printJson } from "../print.ts";
import { plain, show, table } from "../table.ts";
import { GatewayClient, GatewayUnavailable, type Given } from "./client.ts";

const field = (help: string) => ({ kind: "text", env: false, value: "text", help }) as const;

const FLAGS = {
  follow: { kind: "switch", env: false, help: "Keep showing new records." },
  limit: { kind: "whole", env: false, least: 1, most: 500, default: 20, help: "How many records." },
  kind: field("Only this kind: call, begun, admin (changes), login or lost."),
  endpoint: field("Only this endpoint: name or uuid."),
  server: field("Only this server: name or uuid."),
  tool: field("Only this tool, by its name at the server."),
  outcome: field("Only ok, error or refused."),
  principal: field("Only this principal, by id."),
  from: field("From this time on, such as 2030-01-31T12:00:00Z."),
  to: field("Before this time."),
  where: {
    kind: "list",
    env: false,
    commas: false,
    value: "field=value",
    help: "Only records with this field, such as code=forbidden; can be repeated.",
  },
} as const satisfies Table;

const FILTERS = ["kind", "endpoint", "server", "tool", "outcome", "principal", "from", "to"] as const;
const POLL_MS = 1_000;

type Page = Reads["/audit"];
type AuditRecord = Page["items"][number];

export const command: Command = {
  name: "gateway",
  usage: "gateway audit [verify]",
  summary: "Show who did what; verify checks that no record was changed.",
  flags: FLAGS,
  takes: [0, 1],
  async run(given) {
    const { settings, positionals } = given as Given<typeof FLAGS>;
    const client = new GatewayClient(settings);
    const [word] = positionals;
    if (word === "verify") return await verify(client, settings.json);
    if (word !== undefined)
      throw new UsageError(`"${word}" is not an audit command. Use verify, or no word.`);
    const filters = Object.fromEntries([
      ...FILTERS.map((name) => [name, settings[name]] as const),
      ...settings.where.map(conditionIn),
    ]);
    const page = await client.get("/audit", { limit: settings.limit, ...filters });
    if (settings.follow) return await follow(client, page, filters, settings.json);
    show(page, settings.json, () => {
      const { lost, fault } = page.state;
      const notes = [
        ...(fault === undefined ? [] : [`The log cannot be written at the moment: ${fault}`]),
        ...(lost > 0 ? [`${lost} records were lost.`] : []),
      ];
      return [recordTable(page.items.toReversed()), ...notes].join("\n\n");
    });
    return 0;
  },
};

async function verify(client: GatewayClient, json: boolean): Promise<ExitCode> {
  const verdict = await client.get("/audit/verify");
  show(verdict, json, () => {
    if (!verdict.ok) return `Tampered: ${verdict.reason}.`;
    const { count, lost = 0, unfinished = 0 } = verdict;
    const gaps = lost > 0 ? ` ${lost} records were lost before they could be written (kind=lost).` : "";
    const open =
      unfinished > 0
        ? ` ${unfinished} calls began and have no outcome (kind=begun): they still run, or the gateway ended meanwhile.`
        : "";
    return `All ${count} records are unchanged.${gaps}${open}`;
  });
  return verdict.ok ? 0 : 1;
}

function conditionIn(text: string): readonly [string, string] {
  const at = text.indexOf("=");
  if (at <= 0) throw new UsageError(`--where is "${text}", but must be field=value.`);
  return [text.slice(0, at), text.slice(at + 1)];
}

/**
 * Prints new records until it is interrupted. If the gateway is unavailable, it waits and then continues
 * without a gap.
 */
async function follow(
  client: GatewayClient,
  first: Page,
  filters: Readonly<Record<string, string | undefined>>,
  json: boolean,
): Promise<never> {
  let last = 0;
  const printRecords = (items: readonly AuditRecord[]): void => {
    for (const record of items.toReversed()) {
      last = record.seq;
      if (json) printJson(JSON.stringify(record));
      else print(cellsOf(record).map(plain).join("  "));
    }
  };
  printRecords(first.items);
  for (let unavailable = false; ; ) {
    await pause(POLL_MS);
    try {
      printRecords(await client.all("/audit", { ...filters, after: last }));
      unavailable = false;
    } catch (error) {
      if (!(error instanceof GatewayUnavailable)) throw error;
      if (!unavailable) printError(`metamcp: ${error.message} Waiting for it.`);
      unavailable = true;
    }
  }
}

function recordTable(records: readonly AuditRecord[]): string {
  if (records.length === 0) return "No records.";
  return table(["AT", "WHO", "WHERE", "WHAT", "OUTCOME", "MS"], records.map(cellsOf));
}

function cellsOf(record: AuditRecord): string[] {
  const { at, principal, endpoint, server, tool, action, object, outcome, code, by, durationMs } = record;
  const what = tool === undefined ? [action, object?.kind, object?.name] : [`${server?.name}:${tool}`];
  const result = [outcome, code, by && `by ${by}`].filter((part) => part !== undefined);
  return [
    at,
    principal?.name ?? "nobody",
    endpoint?.name ?? "",
    what.filter((part) => part !== undefined).join(" "),
    result.join(" "),
    durationMs === undefined ? "" : String(Math.round(durationMs)),
  ];
}
