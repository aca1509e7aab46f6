/** `metamcp gateway audit`: shows the audit log; `verify` checks that no record was changed. */
import { setTimeout as pause } from "node:timers/promises";
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

interface AuditRecord {
  readonly seq: number;
  readonly at: string;
  readonly kind: string;
  readonly principal?: { readonly name: string };
  readonly endpoint?: { readonly name: string };
  readonly server?: { readonly name: string };
  readonly tool?: string;
  readonly action?: string;
  readonly object?: { readonly kind: string; readonly name?: string };
  readonly outcome: string;
  readonly code?: string;
  readonly by?: string;
  readonly durationMs?: number;
}

interface Page {
  readonly items: readonly AuditRecord[];
  readonly nextCursor?: string;
  readonly state: { readonly queued: number; readonly lost: number; readonly fault?: string };
}

type Verdict =
  | { readonly ok: true; readonly count: number; readonly lost?: number }
  | { readonly ok: false; readonly reason: string };

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
    const query = new URLSearchParams({ limit: String(settings.limit) });
    for (const name of FILTERS) if (settings[name] !== undefined) query.set(name, settings[name]);
    for (const [name, value] of settings.where.map(conditionIn)) query.set(name, value);
    const page = await client.get<Page>(`/audit?${query.toString()}`);
    if (settings.follow) return await follow(client, page, query, settings.json);
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
  const verdict = await client.get<Verdict>("/audit/verify");
  show(verdict, json, () => {
    if (!verdict.ok) return `Tampered: ${verdict.reason}.`;
    const { count, lost = 0 } = verdict;
    const gaps = lost > 0 ? ` ${lost} records were lost before they could be written (kind=lost).` : "";
    return `All ${count} records are unchanged.${gaps}`;
  });
  return verdict.ok ? 0 : 1;
}

function conditionIn(text: string): readonly [string, string] {
  const at = text.indexOf("=");
  if (at <= 0) throw new UsageError(`--where is "${text}", but must be field=value.`);
  return [text.slice(0, at), text.slice(at + 1)];
}

/** Prints new records until it is interrupted. If the gateway is unavailable, it waits and then continues without a gap. */
async function follow(
  client: GatewayClient,
  first: Page,
  query: URLSearchParams,
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
  query.set("limit", "500");
  for (let unavailable = false; ; ) {
    await pause(POLL_MS);
    query.set("after", String(last));
    try {
      printRecords(await allPages(client, query));
      unavailable = false;
    } catch (error) {
      if (!(error instanceof GatewayUnavailable)) throw error;
      if (!unavailable) printError(`metamcp: ${error.message} Waiting for it.`);
      unavailable = true;
    }
  }
}

/** All records since the last request, newest first. */
async function allPages(client: GatewayClient, query: URLSearchParams): Promise<readonly AuditRecord[]> {
  const items: AuditRecord[] = [];
  for (let cursor: string | undefined; ; ) {
    const more = cursor === undefined ? "" : `&cursor=${encodeURIComponent(cursor)}`;
    const page = await client.get<Page>(`/audit?${query.toString()}${more}`);
    items.push(...page.items);
    cursor = page.nextCursor;
    if (cursor === undefined) return items;
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
