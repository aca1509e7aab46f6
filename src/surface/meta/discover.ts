/**
 * mcp_discover: lists the servers, the tools of one server, or the tools and skills that match a query.
 * Returns compact JSON in pages, and names servers that are missing.
 */

import type { Snapshot } from "../../catalog/catalog.ts";
import type { UnknownServer } from "../../catalog/catalog-loader.ts";
import type { CatalogView } from "../../catalog/catalog-view.ts";
import { declarationOf } from "../../catalog/declaration.ts";
import { ITEM_KINDS } from "../../catalog/item.ts";
import { hasHardSign, shownItem, shownNames, type ToolChange } from "../../catalog/pins/change.ts";
import { signatureWithResult } from "../../catalog/signature.ts";
import { summarize } from "../../catalog/summary.ts";
import type { Tool } from "../../catalog/tool.ts";
import { BUILTIN_SERVER } from "../../kernel/builtin-server.ts";
import { type Origin, ownerOf } from "../../kernel/call.ts";
import { fromRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import type { ServerStatus } from "../../kernel/server-status.ts";
import { instructionsOf, purposeOf } from "../about-server.ts";
import { builtinTools, hasBuiltin, PROMPTS, READ, RESOURCES } from "../builtin/tools.ts";
import { contentHash, digest, listHash } from "../content-hash.ts";
import { claimedOffset } from "../cursor.ts";
import { boundedNote, hitsOf } from "../hits.ts";
import { pageWithin } from "../page-within.ts";
import { requireServer } from "../require-server.ts";
import { DEFAULT_BUDGET } from "../result/budget.ts";
import type { ScopeCatalog, ScopeFacts } from "../scope.ts";
import { someOf } from "../server-names.ts";
import { shownSkill, skillsFor } from "../skills.ts";
import type { ClientRequest } from "../surface.ts";
import { suspectNote } from "../suspect.ts";
import { DISCOVER, PROVISION } from "./tools.ts";

const LIMIT = 10;
const MAX_LIMIT = 100;
/** The best hits get a signature even without `detail`. */
const HITS_WITH_SIGNATURE = 3;
const DESCRIPTION_LENGTH = 200;
const ITEMS_WAIT_MS = 3_000;
/** More are listed by the own tool `resources`. */
const SHOWN_SKILLS = 20;

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
  scope: ScopeCatalog & ScopeFacts,
  input: ReadonlyMap<string, Raw>,
  { origin }: ClientRequest,
): Promise<Raw> {
  const view = scope.view(origin);
  const options = { ...read(input), budget: scope.maxResultBytes() ?? DEFAULT_BUDGET, origin };
  // A query cannot narrow these few tools further.
  if (options.server === BUILTIN_SERVER)
    return answer({ tools: builtinTools(scope, origin).map((tool) => listed(tool, options.detail)) });
  if (options.server !== undefined) requireServer(scope, options.server, origin);
  await view.loadCached();
  const needed = options.server === undefined ? usable(scope, origin) : [options.server];
  const unknown = await scope.loader.loadMissing(needed, origin);

  const notice = scope.notice();
  if (options.query !== undefined) {
    const found = await search(scope, options);
    const missing = { unknown: reasons(scope, unknown, origin), unusable: unusable(scope, options) };
    const next = found.tools.length === 0 ? withoutHits(scope, options) : undefined;
    const warning = suspectNote(
      scope,
      found.tools.map(({ server, tool: name }) => ({ server, name })),
      origin,
    );
    return answer({ ...found, ...(await skillsFound(scope, options)), next, ...missing, warning, notice });
  }
  await scope.pins.settled();
  if (options.server !== undefined) {
    if (scope.server(options.server, origin)?.connected) await loadItems(scope, options.server, origin);
    return answer({ ...oneServer(scope, options, unknown), notice });
  }
  return answer({ ...allServers(scope, options, unknown), notice });
}

/** All servers, unless the client sets a limit or they do not fit. */
function allServers(
  scope: ScopeCatalog & ScopeFacts,
  options: DiscoverOptions,
  unknown: readonly UnknownServer[],
) {
  const { origin, cursor, givenLimit, budget } = options;
  const view = scope.view(origin);
  const all = scope.servers(origin);
  const binding = JSON.stringify(["servers", ownerOf(origin), all.map(({ name }) => name)]);
  const offset = scope.cursors.read(cursor, binding);
  const last = givenLimit === undefined ? undefined : offset + givenLimit;
  const entries = all.slice(offset, last).map((status) => ({
    ...statusEntry(scope, status, origin, unknown),
    ...purpose(view, status.name),
  }));
  const servers = pageWithin(entries, budget);
  const end = offset + servers.length;
  return { servers, ...(end < all.length && { nextCursor: scope.cursors.write(end, binding) }) };
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

const usable = (scope: ScopeCatalog, origin: Origin): string[] =>
  scope
    .servers(origin)
    .filter((status) => !status.misconfigured)
    .map((status) => status.name);

/** Only names, because there may be many and a search should return tools. */
function unusable(scope: ScopeCatalog, { server, origin }: DiscoverOptions): string | undefined {
  const names = scope.servers(origin).flatMap(({ misconfigured, name }) => (misconfigured ? [name] : []));
  if (server !== undefined || names.length === 0) return undefined;
  return `${someOf(names)}; mcp_discover {} says why`;
}

function withoutHits(scope: ScopeCatalog & ScopeFacts, { server, origin }: DiscoverOptions): string {
  const provision = scope.provision !== undefined && hasBuiltin(scope, PROVISION.name, origin);
  if (server === undefined && provision)
    return `No tool matches. ${PROVISION.name} {intent} finds servers that have one.`;
  return `No tool matches. ${DISCOVER.name} {server} lists all tools of a server.`;
}

async function search(
  scope: ScopeCatalog & ScopeFacts,
  { query = "", server, limit, cursor, detail, budget, origin }: DiscoverOptions,
) {
  const { cursors } = scope;
  const view = scope.view(origin);
  const { snapshot } = view;
  const claimed = claimedOffset(cursor);
  const { hits, bounded } = await hitsOf(view, query, {
    limit: claimed + limit + 1,
    ...(server !== undefined && { scope: (of: string) => of === server }),
  });
  // Also the hits before: the order may depend on more than the content, such as vectors of an embedder.
  const bindingAt = (end: number): string => {
    const before = hits.slice(0, end).map((hit) => `${hit.server}:${hit.name}`);
    const asked = ["query", query, server, ownerOf(origin)];
    return JSON.stringify([...asked, contentHash(snapshot), digest(before)]);
  };
  const offset = cursors.read(cursor, bindingAt(claimed));
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
  const more = end < hits.length ? { nextCursor: cursors.write(end, bindingAt(end)) } : {};
  return { tools, ...more, ...(bounded && end >= hits.length && { truncated: boundedNote(view) }) };
}

/** Only on the first page. */
async function skillsFound(
  scope: ScopeCatalog,
  { query = "", server, cursor, origin }: DiscoverOptions,
): Promise<object> {
  if (cursor !== undefined) return {};
  const skills = await skillsFor(scope, query, { origin, server, length: DESCRIPTION_LENGTH });
  if (skills.length === 0) return {};
  const shown = skills.map(({ confidence, ...skill }) => ({ ...skill, confidence: round(confidence) }));
  return { skills: shown, readSkill: READ_SKILL };
}

const READ_SKILL = `mcp_call {server: "${BUILTIN_SERVER}", tool: "${READ.name}", args: {uri}}`;

function oneServer(
  scope: ScopeCatalog & ScopeFacts,
  { server = "", limit, cursor, detail, budget, origin }: DiscoverOptions,
  unknown: readonly UnknownServer[],
) {
  const { snapshot } = scope.view(origin);
  const tools = snapshot.listings.get(server)?.tools ?? [];
  const binding = JSON.stringify(["server", server, ownerOf(origin), listHash(tools)]);
  const offset = scope.cursors.read(cursor, binding);
  const page = pageWithin(
    tools.slice(offset, offset + limit).map((tool) => listed(tool, detail)),
    budget,
  );
  const status = scope.server(server, origin);
  const end = offset + page.length;
  return {
    server: status && {
      ...statusEntry(scope, status, origin, unknown),
      ...(offset === 0 && instructionsAndItems(scope, snapshot, { server, origin })),
    },
    tools: page,
    ...(end < tools.length && { nextCursor: scope.cursors.write(end, binding) }),
  };
}

/**
 * The instructions of the server, its skills, the number of its prompts and resources, and how to list them.
 */
function instructionsAndItems(
  scope: ScopeCatalog,
  { listings }: Snapshot,
  { server, origin }: { readonly server: string; readonly origin: Origin },
) {
  const listing = listings.get(server);
  if (!listing) return {};
  const { prompts = [], resources = [], templates = [], skills = [] } = listing;
  const readable = hasBuiltin(scope, READ.name, origin) ? skills : [];
  const count = resources.length + templates.length;
  const listTools = [
    ...(prompts.length > 0 ? [PROMPTS.name] : []),
    ...(count > 0 || readable.length > SHOWN_SKILLS ? [RESOURCES.name] : []),
  ].filter((tool) => hasBuiltin(scope, tool, origin));
  return {
    instructions: instructionsOf(listing),
    prompts: prompts.length || undefined,
    resources: count || undefined,
    ...(readable.length > 0 && {
      skills: readable.slice(0, SHOWN_SKILLS).map((skill) => {
        const { server: _, ...shown } = shownSkill(skill, DESCRIPTION_LENGTH);
        return shown;
      }),
      readSkill: READ_SKILL,
    }),
    ...(listTools.length > 0 && {
      more: `mcp_call {server: "${BUILTIN_SERVER}", tool: "${listTools.join('" | "')}", args: {server: "${server}"}}`,
    }),
  };
}

/** Loads the prompts and resources of a connected server. A server is not started for this. */
async function loadItems(scope: ScopeCatalog, server: string, origin: Origin): Promise<void> {
  await Promise.all(
    ITEM_KINDS.map((kind) => scope.loader.loadMissing([server], origin, ITEMS_WAIT_MS, kind)),
  );
}

function purpose({ snapshot }: CatalogView, server: string): { readonly about?: string } {
  const listing = snapshot.listings.get(server);
  const about = listing && purposeOf(server, listing);
  return about === undefined ? {} : { about };
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

function statusEntry(
  scope: ScopeCatalog,
  status: ServerStatus,
  origin: Origin,
  unknown: readonly UnknownServer[],
) {
  const { name, state, connected, criticality } = status;
  const listing = scope.view(origin).snapshot.listings.get(name);
  const reason = status.reason ?? unknown.find((other) => other.server === name)?.reason;
  const toolCount = listing?.tools.length ?? 0;
  const skillCount = listing?.skills?.length || undefined;
  const counts = { toolCount, skillCount };
  return { name, state, connected, ...counts, criticality, reason, ...unapproved(scope, name, origin) };
}

/**
 * What the user should approve; a model can only say so. If pins are not enforced, new tools are usable and
 * not listed here, unless they have a hard sign.
 */
function unapproved({ pins }: ScopeCatalog, server: string, origin: Origin) {
  const changes = [...pins.unapproved(server, origin), ...pins.unapprovedTexts(server, origin)];
  const namesOf = (those: readonly ToolChange[]) => shownNames(those.map(shownItem));
  const suspect = changes.filter(hasHardSign);
  const changed = changes.filter(({ kind }) => kind === "changed");
  const shown = pins.enforced
    ? { ...(changes.length > 0 && { quarantined: namesOf(changes) }) }
    : {
        ...(changed.length > 0 && { changed: namesOf(changed) }),
        ...(suspect.length > 0 && { suspect: namesOf(suspect) }),
      };
  return Object.keys(shown).length === 0 ? {} : { ...shown, approve: `metamcp approve ${server}` };
}

function reasons(scope: ScopeCatalog, unknown: readonly UnknownServer[], origin: Origin) {
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
