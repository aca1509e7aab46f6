/** search_tools, list_tools, list_namespaces: what there is, page by page, and what is missing. */
import { summarize } from "../../catalog/summary.ts";
import { type Tool, toolId } from "../../catalog/tool.ts";
import { callerOf } from "../../kernel/call.ts";
import { MetaMcpError } from "../../kernel/errors.ts";
import { fromRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { boundedNote, hitsOf } from "../hits.ts";
import type { Input } from "../input.ts";
import { OWN_SERVER, ownTools } from "../own/tools.ts";
import { requireServer } from "../require-server.ts";
import type { Scope } from "../scope.ts";
import type { ClientRequest } from "../surface.ts";
import { answer } from "./answer.ts";
import { contentMark } from "./content.ts";
import { tagsOf } from "./tags.ts";
import { type Unavailable, unavailableOf } from "./unavailable.ts";
import { neededFor, pageOf, type Walk } from "./walk.ts";

const SHORT = 120;

export async function searchTools(scope: Scope, input: Input, request: ClientRequest): Promise<Raw> {
  const query = textOf(input, "query") ?? "";
  if (query.trim() === "")
    throw new MetaMcpError("validation_input", 'search_tools: "query" is empty: describe the task.', {
      op: "search_tools",
    });
  const unavailable = await lookAround(scope, request);
  const view = scope.view(request.origin);
  const { hits, bounded } = await hitsOf(view, query, {
    limit: neededFor({ cursor: textOf(input, "cursor"), limit: numberOf(input, "limit") }),
  });
  const { snapshot } = view;
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
  if (namespace === OWN_SERVER)
    return toolPage(scope, request, {
      tools: ownTools(scope, request.origin),
      unavailable: [],
      walk: walkOf(scope, input, request, ["list", namespace]),
    });
  if (namespace !== undefined) requireServer(scope, namespace, "list_namespaces");
  const unavailable = await lookAround(scope, request, namespace);
  const { listings } = scope.view(request.origin).snapshot;
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
  const names = [...scope.view(request.origin).snapshot.listings.keys()].toSorted(compare);
  const walk = walkOf(scope, input, request, ["namespaces"]);
  const { page: namespaces, nextCursor } = pageOf(names, (name) => name, walk);
  return answer(request.origin, {
    structured: toRaw({ namespaces, nextCursor, unavailable }),
    note: scope.notice(),
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
    note:
      [scope.notice(), truncated && boundedNote(scope.view(origin))].filter(Boolean).join("\n") || undefined,
  });
}

/** Gets to know what is not known yet; says what cannot be. */
async function lookAround(
  scope: Scope,
  { origin }: ClientRequest,
  only?: string,
): Promise<readonly Unavailable[]> {
  await scope.view(origin).loadCached();
  const unknown = await scope.loader.learn(only === undefined ? [...scope.specs().keys()] : [only], origin);
  return unavailableOf(scope, unknown, origin, only);
}

function walkOf(scope: Scope, input: Input, { origin }: ClientRequest, asked: readonly unknown[]): Walk {
  return {
    cursor: textOf(input, "cursor"),
    limit: numberOf(input, "limit"),
    binding: [...asked, callerOf(origin), contentMark(scope.view(origin).snapshot)],
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

function textOf(input: Input, key: string): string | undefined {
  const raw = input.get(key);
  return raw && (fromRaw(raw) as string);
}

function numberOf(input: Input, key: string): number | undefined {
  const raw = input.get(key);
  return raw && (fromRaw(raw) as number);
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
