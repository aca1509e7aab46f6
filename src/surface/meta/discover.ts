/**
 * mcp_discover: lists the servers, the tools of one server, or the tools that match a query. Returns compact JSON in
 * pages, and names servers that are missing.
 */

import type { Snapshot } from "../../catalog/catalog.ts";
import type { UnknownServer } from "../../catalog/catalog-loader.ts";
import type { CatalogView } from "../../catalog/catalog-view.ts";
import { declarationOf } from "../../catalog/declaration.ts";
import { ITEM_KINDS } from "../../catalog/item.ts";
import { shownNames } from "../../catalog/pins/change.ts";
import { signatureWithResult } from "../../catalog/signature.ts";
import { summarize } from "../../catalog/summary.ts";
import type { Tool } from "../../catalog/tool.ts";
import { callerOf, type Origin } from "../../kernel/call.ts";
import { fromRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { instructionsOf, purposeOf } from "../about-server.ts";
import { readCursor, writeCursor } from "../cursor.ts";
import { boundedNote, hitsOf } from "../hits.ts";
import { hasOwn, OWN_SERVER, ownTools, PROMPTS, RESOURCES } from "../own/tools.ts";
import { pageWithin } from "../page-within.ts";
import { requireServer } from "../require-server.ts";
import { DEFAULT_BUDGET } from "../result/budget.ts";
import type { Scope, ServerStatus } from "../scope.ts";
import { someOf } from "../server-names.ts";
import type { ClientRequest } from "../surface.ts";
import { DISCOVER, PROVISION } from "./tools.ts";

const LIMIT = 10;
const MAX_LIMIT = 100;
/** The best hits get a signature even without `detail`. */
const HITS_WITH_SIGNATURE = 3;
const DESCRIPTION_LENGTH = 200;
const ITEMS_WAIT_MS = 3_000;

interface DiscoverOptions {
  readonly query: string | undefined;
  readonly server: string | undefined;
  readonly limit: number;
  /** Undefined if the client did not set one. */
  readonly givenLimit: number | undefined;
  /** The largest answer, in bytes. */
  readonly budget: number;
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
  const options = { ...read(input), budget: scope.maxResultBytes() ?? DEFAULT_BUDGET, origin };
  // A query cannot narrow these few tools further.
  if (options.server === OWN_SERVER)
    return answer({ tools: ownTools(scope, origin).map((tool) => listed(tool, options.detail)) });
  if (options.server !== undefined) requireServer(scope, options.server, origin);
  await view.loadCached();
  const needed = options.server === undefined ? usable(scope, origin) : [options.server];
  const unknown = await scope.loader.loadMissing(needed, origin);

  const notice = scope.notice();
  if (options.query !== undefined) {
    const found = await search(view, options);
    const missing = { unknown: reasons(scope, unknown, origin), unusable: unusable(scope, options) };
    const next = found.tools.length === 0 ? withoutHits(scope, options) : undefined;
    return answer({ ...found, next, ...missing, notice });
  }
  await scope.pins.settled();
  if (options.server !== undefined) {
    if (scope.server(options.server, origin)?.connected) await loadItems(scope, options.server, origin);
    return answer({ ...oneServer(scope, options, unknown), notice });
  }
  return answer({ ...allServers(scope, options, unknown), notice });
}

/** All servers, unless the client sets a limit or they do not fit. */
function allServers(scope: Scope, options: DiscoverOptions, unknown: readonly UnknownServer[]) {
  const { origin, cursor, givenLimit, budget } = options;
  const view = scope.view(origin);
  const all = scope.servers(origin);
  const binding = JSON.stringify(["servers", callerOf(origin), all.map(({ name }) => name)]);
  const offset = readCursor(cursor, binding);
  const end = givenLimit === undefined ? undefined : offset + givenLimit;
  const entries = all.slice(offset, end).map((status) => ({
    ...statusEntry(scope, status, origin, unknown),
    ...purpose(view, status.name),
  }));
  const servers = pageWithin(entries, budget);
  return { servers, ...nextCursor(offset + servers.length, all.length, binding) };
}

function read(input: ReadonlyMap<string, Raw>): Omit<DiscoverOptions, "origin" | "budget"> {
  const value = (key: string) => {
    const raw = input.get(key);
    return raw && fromRaw(raw);
  };
  const query = value("query") as string | undefined;
  const limit = value("limit") as number | undefined;
  const givenLimit = limit === undefined ? undefined : Math.min(limit, MAX_LIMIT);
  return {
    query: query?.trim() === "" ? undefined : query,
    server: value("server") as string | undefined,
    limit: givenLimit ?? LIMIT,
    givenLimit,
    cursor: value("cursor") as string | undefined,
    detail: value("detail") as DiscoverOptions["detail"],
  };
}

const usable = (scope: Scope, origin: Origin): string[] =>
  scope
    .servers(origin)
    .filter((status) => !status.misconfigured)
    .map((status) => status.name);

/** Only names, because there may be many and a search should return tools. */
function unusable(scope: Scope, { server, origin }: DiscoverOptions): string | undefined {
  const names = scope.servers(origin).flatMap(({ misconfigured, name }) => (misconfigured ? [name] : []));
  if (server !== undefined || names.length === 0) return undefined;
  return `${someOf(names)}; mcp_discover {} says why`;
}

function withoutHits(scope: Scope, { server, origin }: DiscoverOptions): string {
  const provision = scope.provision !== undefined && hasOwn(scope, PROVISION.name, origin);
  if (server === undefined && provision)
    return `No tool matches. ${PROVISION.name} {intent} finds servers that have one.`;
  return `No tool matches. ${DISCOVER.name} {server} lists all tools of a server.`;
}

async function search(
  view: CatalogView,
  { query = "", server, limit, cursor, detail, budget, origin }: DiscoverOptions,
) {
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
        ...brief(tool, detail, offset + index < HITS_WITH_SIGNATURE),
        score: round(hit.score),
        confidence: round(hit.confidence),
      },
    ];
  });
  const tools = pageWithin(page, budget);
  const end = tools.length < page.length ? offset + tools.length : offset + limit;
  const more = nextCursor(end, hits.length, binding);
  return { tools, ...more, ...(bounded && !more.nextCursor && { truncated: boundedNote(view) }) };
}

function oneServer(
  scope: Scope,
  { server = "", limit, cursor, detail, budget, origin }: DiscoverOptions,
  unknown: readonly UnknownServer[],
) {
  const { snapshot } = scope.view(origin);
  const tools = snapshot.listings.get(server)?.tools ?? [];
  const binding = JSON.stringify(["server", server, callerOf(origin), snapshot.version]);
  const offset = readCursor(cursor, binding);
  const page = pageWithin(
    tools.slice(offset, offset + limit).map((tool) => listed(tool, detail)),
    budget,
  );
  const status = scope.server(server, origin);
  return {
    server: status && {
      ...statusEntry(scope, status, origin, unknown),
      ...(offset === 0 && instructionsAndItems(scope, snapshot, { server, origin })),
    },
    tools: page,
    ...nextCursor(offset + page.length, tools.length, binding),
  };
}

/** The instructions of the server, the number of its prompts and resources, and how to list them. */
function instructionsAndItems(
  scope: Scope,
  { listings }: Snapshot,
  { server, origin }: { readonly server: string; readonly origin: Origin },
) {
  const listing = listings.get(server);
  if (!listing) return {};
  const { prompts = [], resources = [], templates = [] } = listing;
  const count = resources.length + templates.length;
  const listTools = [
    ...(prompts.length > 0 ? [PROMPTS.name] : []),
    ...(count > 0 ? [RESOURCES.name] : []),
  ].filter((tool) => hasOwn(scope, tool, origin));
  return {
    instructions: instructionsOf(listing),
    prompts: prompts.length || undefined,
    resources: count || undefined,
    ...(listTools.length > 0 && {
      more: `mcp_call {server: "${OWN_SERVER}", tool: "${listTools.join('" | "')}", args: {server: "${server}"}}`,
    }),
  };
}

/** Loads the prompts and resources of a connected server. A server is not started for this. */
async function loadItems(scope: Scope, server: string, origin: Origin): Promise<void> {
  await Promise.all(
    ITEM_KINDS.map((kind) => scope.loader.loadMissing([server], origin, ITEMS_WAIT_MS, kind)),
  );
}

function purpose({ snapshot }: CatalogView, server: string): { readonly about?: string } {
  const listing = snapshot.listings.get(server);
  const about = listing && purposeOf(server, listing);
  return about === undefined ? {} : { about };
}

/** Returns a cursor if there are more entries. */
function nextCursor(end: number, total: number, binding: string): { nextCursor?: string } {
  return end < total ? { nextCursor: writeCursor(end, binding) } : {};
}

/** An entry in the list of one server, without the server name. */
function listed(tool: Tool, detail: DiscoverOptions["detail"]) {
  const { server: _, ...rest } = brief(tool, detail, true);
  return rest;
}

function brief(tool: Tool, detail: DiscoverOptions["detail"], withSignature: boolean) {
  const { name, server, description, inputSchema } = tool;
  return {
    tool: name,
    server,
    description: summarize(description, DESCRIPTION_LENGTH),
    ...(detail === "schema" && { inputSchema: fromRaw(inputSchema) }),
    ...(detail === "types" && { types: declarationOf(tool) }),
    ...(!detail && withSignature && { signature: signatureWithResult(tool) }),
  };
}

function statusEntry(scope: Scope, status: ServerStatus, origin: Origin, unknown: readonly UnknownServer[]) {
  const { name, state, connected, criticality } = status;
  const listing = scope.view(origin).snapshot.listings.get(name);
  const reason = status.reason ?? unknown.find((other) => other.server === name)?.reason;
  const toolCount = listing?.tools.length ?? 0;
  return { name, state, connected, toolCount, criticality, reason, ...unapproved(scope, name, origin) };
}

/**
 * Tools that the user should approve; a model can only say so. If pins are not enforced, new tools are usable and not
 * listed here.
 */
function unapproved({ pins }: Scope, server: string, origin: Origin) {
  const changes = pins.unapproved(server, origin).filter(({ kind }) => pins.enforced || kind === "changed");
  if (changes.length === 0) return {};
  const names = shownNames(changes.map(({ tool }) => tool));
  return { [pins.enforced ? "quarantined" : "changed"]: names, approve: `metamcp approve ${server}` };
}

function reasons(scope: Scope, unknown: readonly UnknownServer[], origin: Origin) {
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
