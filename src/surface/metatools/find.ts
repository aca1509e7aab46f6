/** search_tools, list_tools, list_namespaces: what there is, page by page, and what is missing. */
import { summarize } from "../../catalog/summary.ts";
import { type Tool, toolId } from "../../catalog/tool.ts";
import { callerOf } from "../../kernel/call.ts";
import { MetaMcpError } from "../../kernel/errors.ts";
import { fromRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { requireServer } from "../call-tool.ts";
import type { ClientRequest } from "../face.ts";
import { boundedNote, hitsOf } from "../hits.ts";
import type { Scope } from "../scope.ts";
import { answer } from "./answer.ts";
import { contentMark } from "./content.ts";
import { tagsOf } from "./tags.ts";
import { type Unavailable, unavailableOf } from "./unavailable.ts";
import { neededFor, pageOf, type Walk, type WalkPage } from "./walk.ts";

type Input = ReadonlyMap<string, Raw>;

const SHORT = 120;

export async function searchTools(scope: Scope, input: Input, request: ClientRequest): Promise<Raw> {
  const query = textOf(input, "query") ?? "";
  if (query.trim() === "")
    throw new MetaMcpError("validation_input", 'search_tools: "query" is empty: say what is to be done.', {
      op: "search_tools",
    });
  const unavailable = await lookAround(scope, request);
  const { hits, bounded } = await hitsOf(scope, query, {
    limit: neededFor({ cursor: textOf(input, "cursor"), limit: numberOf(input, "limit") }),
    scope: (server) => scope.catalog.snapshot.listings.has(server),
  });
  const { snapshot } = scope.catalog;
  const tools = hits.flatMap(({ server, name }) => snapshot.tool(server, name) ?? []);
  return toolPage(scope, request, {
    tools,
    unavailable,
    bounded,
    walk: walkOf(scope, input, request, ["search", query]),
  });
}

export async function listTools(scope: Scope, input: Input, request: ClientRequest): Promise<Raw> {
  const namespace = textOf(input, "namespace");
  if (namespace !== undefined) requireServer(scope, namespace, "list_namespaces");
  const unavailable = await lookAround(scope, request, namespace);
  const { listings } = scope.catalog.snapshot;
  const concerned = namespace === undefined ? [...listings.values()] : [listings.get(namespace)];
  const tools = concerned
    .flatMap((listing) => listing?.tools ?? [])
    .toSorted((a, b) => compare(a.server, b.server) || compare(a.name, b.name));
  return toolPage(scope, request, {
    tools,
    unavailable,
    walk: walkOf(scope, input, request, ["list", namespace]),
  });
}

export async function listNamespaces(scope: Scope, input: Input, request: ClientRequest): Promise<Raw> {
  const unavailable = await lookAround(scope, request);
  const names = [...scope.catalog.snapshot.listings.keys()].toSorted(compare);
  const found = pageOf(names, (name) => name, walkOf(scope, input, request, ["namespaces"]));
  const { page: namespaces, nextCursor } = found;
  return answer(request.origin, {
    structured: toRaw({ namespaces, nextCursor, unavailable }),
    text: inWords(scope, "namespaces", found, unavailable),
  });
}

interface Found {
  readonly tools: readonly Tool[];
  readonly unavailable: readonly Unavailable[];
  /** There are more than a search gives. */
  readonly bounded?: boolean;
  readonly walk: Walk;
}

function toolPage(scope: Scope, { origin }: ClientRequest, found: Found): Raw {
  const { unavailable, bounded } = found;
  const shown = pageOf(found.tools, toolId, found.walk);
  const { nextCursor } = shown;
  // Who can still go on has not missed anything.
  const truncated = bounded && nextCursor === undefined ? true : undefined;
  const tools = shown.page.map(brief);
  return answer(origin, {
    structured: toRaw({ tools, nextCursor, truncated, unavailable }),
    text: inWords(scope, "tools", shown, unavailable),
    note: truncated && boundedNote(scope),
  });
}

/** Gets to know what is not known yet; says what cannot be. */
async function lookAround(
  scope: Scope,
  { origin }: ClientRequest,
  only?: string,
): Promise<readonly Unavailable[]> {
  await scope.catalog.loadCached();
  const unknown = await scope.learner.learn(only === undefined ? [...scope.specs().keys()] : [only], origin);
  return unavailableOf(scope, unknown, only);
}

function walkOf(scope: Scope, input: Input, { origin }: ClientRequest, asked: readonly unknown[]): Walk {
  return {
    cursor: textOf(input, "cursor"),
    limit: numberOf(input, "limit"),
    binding: [...asked, callerOf(origin), contentMark(scope.catalog.snapshot)],
  };
}

function brief(tool: Tool) {
  const { name, server, description, title } = tool;
  return {
    id: toolId(tool),
    name,
    namespace: server,
    shortDescription: summarize(description || title || "", SHORT),
    tags: tagsOf(tool),
  };
}

function inWords(
  scope: Scope,
  what: string,
  { page, nextCursor }: WalkPage<unknown>,
  unavailable: readonly Unavailable[],
): string {
  const down = unavailable.map(({ server, reason }) => `${server}: ${summarize(reason, SHORT)}`);
  return [
    `${page.length === 1 ? `1 ${what.slice(0, -1)}` : `${page.length} ${what}`}${nextCursor ? ", more with nextCursor" : ""}.`,
    ...(down.length > 0 ? [`Not available: ${down.join("; ")}`] : []),
    ...(scope.notice() ? [scope.notice()] : []),
  ].join("\n");
}

function textOf(input: Input, key: string): string | undefined {
  const raw = input.get(key);
  return raw && (fromRaw(raw) as string);
}

function numberOf(input: Input, key: string): number | undefined {
  const raw = input.get(key);
  return raw && (fromRaw(raw) as number);
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
