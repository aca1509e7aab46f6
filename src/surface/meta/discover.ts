/** mcp_discover: which servers there are, what one offers, and which tools fit a task. Compact JSON, paged, never silent about what is missing. */

import { declarationOf } from "../../catalog/declaration.ts";
import type { Unknown } from "../../catalog/learn.ts";
import { shownNames } from "../../catalog/pins/change.ts";
import { signatureOf } from "../../catalog/signature.ts";
import { summarize } from "../../catalog/summary.ts";
import type { Tool } from "../../catalog/tool.ts";
import { callerOf } from "../../kernel/call.ts";
import { fromRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { requireServer } from "../call-tool.ts";
import { readCursor, writeCursor } from "../cursor.ts";
import type { ClientRequest } from "../face.ts";
import { boundedNote, hitsOf } from "../hits.ts";
import type { Scope, ServerStatus } from "../scope.ts";

const LIMIT = 10;
const LIMIT_MOST = 100;
/** How many of the best hits carry a signature unasked. */
const SIGNED = 3;
const DESCRIPTION_LENGTH = 200;

interface Wanted {
  readonly query: string | undefined;
  readonly server: string | undefined;
  readonly limit: number;
  readonly cursor: string | undefined;
  readonly detail: "schema" | "types" | undefined;
  /** Whose cursors these are. */
  readonly caller: string;
}

export async function discover(
  scope: Scope,
  input: ReadonlyMap<string, Raw>,
  { origin }: ClientRequest,
): Promise<Raw> {
  const wanted = { ...read(input), caller: callerOf(origin) };
  if (wanted.server !== undefined) requireServer(scope, wanted.server);
  await scope.catalog.loadCached();
  const concerned = wanted.server === undefined ? usable(scope) : [wanted.server];
  const unknown = await scope.learner.learn(concerned, origin);

  const notice = scope.notice();
  if (wanted.query !== undefined)
    return answer({ ...(await search(scope, wanted)), unknown: listed(scope, unknown), notice });
  await scope.pins.settled();
  if (wanted.server !== undefined) return answer({ ...oneServer(scope, wanted, unknown), notice });
  readCursor(wanted.cursor, "servers come on one page");
  return answer({ servers: scope.servers().map((status) => shown(scope, status, unknown)), notice });
}

function read(input: ReadonlyMap<string, Raw>): Omit<Wanted, "caller"> {
  const value = (key: string) => {
    const raw = input.get(key);
    return raw && fromRaw(raw);
  };
  const query = value("query") as string | undefined;
  return {
    query: query?.trim() === "" ? undefined : query,
    server: value("server") as string | undefined,
    limit: Math.min((value("limit") as number | undefined) ?? LIMIT, LIMIT_MOST),
    cursor: value("cursor") as string | undefined,
    detail: value("detail") as Wanted["detail"],
  };
}

const usable = (scope: Scope): string[] =>
  scope
    .servers()
    .filter((status) => !status.misconfigured)
    .map((status) => status.name);

async function search(scope: Scope, { query = "", server, limit, cursor, detail, caller }: Wanted) {
  const { snapshot } = scope.catalog;
  const binding = JSON.stringify(["query", query, server, caller, snapshot.version]);
  const offset = readCursor(cursor, binding);
  const { hits, bounded } = await hitsOf(scope, query, {
    limit: offset + limit + 1,
    scope: (of) => (server === undefined || of === server) && snapshot.listings.has(of),
  });
  const page = hits.slice(offset, offset + limit).flatMap((hit, index) => {
    const tool = snapshot.tool(hit.server, hit.name);
    if (!tool) return [];
    return [
      {
        ...brief(tool, detail, offset + index < SIGNED),
        score: round(hit.score),
        confidence: round(hit.confidence),
      },
    ];
  });
  const way = next(offset + limit, hits.length, binding);
  return { tools: page, ...way, ...(bounded && !way.nextCursor && { truncated: boundedNote(scope) }) };
}

function oneServer(
  scope: Scope,
  { server = "", limit, cursor, detail, caller }: Wanted,
  unknown: readonly Unknown[],
) {
  const { snapshot } = scope.catalog;
  const tools = snapshot.listings.get(server)?.tools ?? [];
  const binding = JSON.stringify(["server", server, caller, snapshot.version]);
  const offset = readCursor(cursor, binding);
  const page = tools.slice(offset, offset + limit).map((tool) => {
    const { server: _, ...rest } = brief(tool, detail, true);
    return rest;
  });
  const status = scope.server(server);
  return {
    server: status && shown(scope, status, unknown),
    tools: page,
    ...next(offset + limit, tools.length, binding),
  };
}

/** What is cut is said. */
function next(end: number, total: number, binding: string): { nextCursor?: string } {
  return end < total ? { nextCursor: writeCursor(end, binding) } : {};
}

function brief(tool: Tool, detail: Wanted["detail"], signed: boolean) {
  const { name, server, description, inputSchema } = tool;
  return {
    tool: name,
    server,
    description: summarize(description, DESCRIPTION_LENGTH),
    ...(detail === "schema" && { inputSchema: fromRaw(inputSchema) }),
    ...(detail === "types" && { types: declarationOf(tool) }),
    ...(!detail && signed && { signature: signatureOf(name, inputSchema) }),
  };
}

function shown(scope: Scope, status: ServerStatus, unknown: readonly Unknown[]) {
  const { name, state, connected, criticality } = status;
  const listing = scope.catalog.snapshot.listings.get(name);
  const reason = status.reason ?? unknown.find((other) => other.server === name)?.reason;
  const toolCount = listing?.tools.length ?? 0;
  return { name, state, connected, toolCount, criticality, reason, ...unapproved(scope, name) };
}

/** Of the user's to decide: a model can only say so. What is merely new is no news where it may be used. */
function unapproved({ pins }: Scope, server: string) {
  const changes = pins.unapproved(server).filter(({ kind }) => pins.enforced || kind === "changed");
  if (changes.length === 0) return {};
  const names = shownNames(changes.map(({ tool }) => tool));
  return { [pins.enforced ? "quarantined" : "changed"]: names, approve: `metamcp approve ${server}` };
}

function listed(scope: Scope, unknown: readonly Unknown[]) {
  if (unknown.length === 0) return undefined;
  return unknown.map(({ server, reason }) => ({ server, reason: scope.server(server)?.reason ?? reason }));
}

const round = (value: number): number => Math.round(value * 1000) / 1000;

function answer(value: unknown): Raw {
  return toRaw({ content: [{ type: "text", text: JSON.stringify(value) }] });
}
