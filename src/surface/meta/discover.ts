/** mcp_discover: which servers there are, what one offers, and which tools fit a task. Compact JSON, paged, never silent about what is missing. */

import type { Snapshot } from "../../catalog/catalog.ts";
import type { Unknown } from "../../catalog/catalog-loader.ts";
import type { CatalogView } from "../../catalog/catalog-view.ts";
import { declarationOf } from "../../catalog/declaration.ts";
import { ITEM_KINDS } from "../../catalog/item.ts";
import { shownNames } from "../../catalog/pins/change.ts";
import { signatureOf } from "../../catalog/signature.ts";
import { summarize } from "../../catalog/summary.ts";
import type { Tool } from "../../catalog/tool.ts";
import { callerOf, type Origin } from "../../kernel/call.ts";
import { fromRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { instructionsOf, purposeOf } from "../about-server.ts";
import { readCursor, writeCursor } from "../cursor.ts";
import { boundedNote, hitsOf } from "../hits.ts";
import { hasOwn, OWN_SERVER, ownTools, PROMPTS, RESOURCES } from "../own/tools.ts";
import { requireServer } from "../require-server.ts";
import type { Scope, ServerStatus } from "../scope.ts";
import { someOf } from "../server-names.ts";
import type { ClientRequest } from "../surface.ts";

const LIMIT = 10;
const LIMIT_MOST = 100;
/** How many of the best hits carry a signature unasked. */
const SIGNED = 3;
const DESCRIPTION_LENGTH = 200;
const ITEMS_MS = 3_000;

interface Wanted {
  readonly query: string | undefined;
  readonly server: string | undefined;
  readonly limit: number;
  readonly cursor: string | undefined;
  readonly detail: "schema" | "types" | undefined;
  readonly origin: Origin;
}

export async function discover(
  scope: Scope,
  input: ReadonlyMap<string, Raw>,
  { origin }: ClientRequest,
): Promise<Raw> {
  const view = scope.view(origin);
  const wanted = { ...read(input), origin };
  if (wanted.server === OWN_SERVER && wanted.query === undefined)
    return answer({ tools: ownTools(scope, origin).map((tool) => listed(tool, wanted.detail)) });
  if (wanted.server !== undefined) requireServer(scope, wanted.server);
  await view.loadCached();
  const concerned = wanted.server === undefined ? usable(scope, origin) : [wanted.server];
  const unknown = await scope.loader.learn(concerned, origin);

  const notice = scope.notice();
  if (wanted.query !== undefined) {
    const found = await search(view, wanted);
    const missing = { unknown: reasons(scope, unknown, origin), unusable: unusable(scope, wanted) };
    return answer({ ...found, ...missing, notice });
  }
  await scope.pins.settled();
  if (wanted.server !== undefined) {
    if (scope.server(wanted.server, origin)?.connected) await learnItems(scope, wanted.server, origin);
    return answer({ ...oneServer(scope, wanted, unknown), notice });
  }
  readCursor(wanted.cursor, "the list of servers has only one page");
  const servers = scope.servers(origin).map((status) => ({
    ...shown(scope, status, origin, unknown),
    ...purpose(view, status.name),
  }));
  return answer({ servers, notice });
}

function read(input: ReadonlyMap<string, Raw>): Omit<Wanted, "origin"> {
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

const usable = (scope: Scope, origin: Origin): string[] =>
  scope
    .servers(origin)
    .filter((status) => !status.misconfigured)
    .map((status) => status.name);

/** In short: there may be many, and whoever searches wants tools. */
function unusable(scope: Scope, { server, origin }: Wanted): string | undefined {
  const names = scope.servers(origin).flatMap(({ misconfigured, name }) => (misconfigured ? [name] : []));
  if (server !== undefined || names.length === 0) return undefined;
  return `${someOf(names)}; mcp_discover {} says why`;
}

async function search(view: CatalogView, { query = "", server, limit, cursor, detail, origin }: Wanted) {
  const { snapshot } = view;
  const binding = JSON.stringify(["query", query, server, callerOf(origin), snapshot.version]);
  const offset = readCursor(cursor, binding);
  const { hits, bounded } = await hitsOf(view, query, {
    limit: offset + limit + 1,
    ...(server !== undefined && { scope: (of: string) => of === server }),
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
  return { tools: page, ...way, ...(bounded && !way.nextCursor && { truncated: boundedNote(view) }) };
}

function oneServer(
  scope: Scope,
  { server = "", limit, cursor, detail, origin }: Wanted,
  unknown: readonly Unknown[],
) {
  const { snapshot } = scope.view(origin);
  const tools = snapshot.listings.get(server)?.tools ?? [];
  const binding = JSON.stringify(["server", server, callerOf(origin), snapshot.version]);
  const offset = readCursor(cursor, binding);
  const page = tools.slice(offset, offset + limit).map((tool) => listed(tool, detail));
  const status = scope.server(server, origin);
  return {
    server: status && {
      ...shown(scope, status, origin, unknown),
      ...(offset === 0 && beside(scope, snapshot, { server, origin })),
    },
    tools: page,
    ...next(offset + limit, tools.length, binding),
  };
}

/** What the server says of itself, and what it has beside tools. */
function beside(
  scope: Scope,
  { listings }: Snapshot,
  { server, origin }: { readonly server: string; readonly origin: Origin },
) {
  const listing = listings.get(server);
  if (!listing) return {};
  const { prompts = [], resources = [], templates = [] } = listing;
  const count = resources.length + templates.length;
  const ways = [...(prompts.length > 0 ? [PROMPTS.name] : []), ...(count > 0 ? [RESOURCES.name] : [])].filter(
    (tool) => hasOwn(scope, tool, origin),
  );
  return {
    instructions: instructionsOf(listing),
    prompts: prompts.length || undefined,
    resources: count || undefined,
    ...(ways.length > 0 && {
      more: `mcp_call {server: "${OWN_SERVER}", tool: "${ways.join('" | "')}", args: {server: "${server}"}}`,
    }),
  };
}

/** Of a server that runs it is soon known; none is started for it. */
async function learnItems(scope: Scope, server: string, origin: Origin): Promise<void> {
  await Promise.all(ITEM_KINDS.map((kind) => scope.loader.learn([server], origin, ITEMS_MS, kind)));
}

function purpose({ snapshot }: CatalogView, server: string): { readonly about?: string } {
  const listing = snapshot.listings.get(server);
  const about = listing && purposeOf(server, listing);
  return about === undefined ? {} : { about };
}

/** What is cut is said. */
function next(end: number, total: number, binding: string): { nextCursor?: string } {
  return end < total ? { nextCursor: writeCursor(end, binding) } : {};
}

/** Among those of its own server. */
function listed(tool: Tool, detail: Wanted["detail"]) {
  const { server: _, ...rest } = brief(tool, detail, true);
  return rest;
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

function shown(scope: Scope, status: ServerStatus, origin: Origin, unknown: readonly Unknown[]) {
  const { name, state, connected, criticality } = status;
  const listing = scope.view(origin).snapshot.listings.get(name);
  const reason = status.reason ?? unknown.find((other) => other.server === name)?.reason;
  const toolCount = listing?.tools.length ?? 0;
  return { name, state, connected, toolCount, criticality, reason, ...unapproved(scope, name, origin) };
}

/** Of the user's to decide: a model can only say so. What is merely new is no news where it may be used. */
function unapproved({ pins }: Scope, server: string, origin: Origin) {
  const changes = pins.unapproved(server, origin).filter(({ kind }) => pins.enforced || kind === "changed");
  if (changes.length === 0) return {};
  const names = shownNames(changes.map(({ tool }) => tool));
  return { [pins.enforced ? "quarantined" : "changed"]: names, approve: `metamcp approve ${server}` };
}

function reasons(scope: Scope, unknown: readonly Unknown[], origin: Origin) {
  if (unknown.length === 0) return undefined;
  return unknown.map(({ server, reason }) => ({
    server,
    reason: scope.server(server, origin)?.reason ?? reason,
  }));
}

const round = (value: number): number => Math.round(value * 1000) / 1000;

function answer(value: unknown): Raw {
  return toRaw({ content: [{ type: "text", text: JSON.stringify(value) }] });
}
