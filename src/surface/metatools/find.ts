/**
 * search_tools, list_tools and list_namespaces: return tools or servers in pages, and name servers that are
 * unavailable.
 */
import { summarize } from "../../catalog/summary.ts";
import { type Tool, toolId } from "../../catalog/tool.ts";
import { BUILTIN_SERVER } from "../../kernel/builtin-server.ts";
import { ownerOf } from "../../kernel/call.ts";
import { MetaMcpError } from "../../kernel/errors.ts";
import { fromRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { member } from "../../rpc/slice.ts";
import { builtinTools } from "../builtin/tools.ts";
import { contentHash } from "../content-hash.ts";
import { boundedNote, hitsOf } from "../hits.ts";
import type { Input } from "../input.ts";
import { requireServer } from "../require-server.ts";
import type { ScopeCatalog, ScopeFacts } from "../scope.ts";
import { skillsFor } from "../skills.ts";
import type { ClientRequest } from "../surface.ts";
import { suspectNote } from "../suspect.ts";
import { answer } from "./answer.ts";
import { itemsNeeded, type PageRequest, pageOf } from "./paging.ts";
import { type Unavailable, unavailableOf } from "./unavailable.ts";

const DESCRIPTION_LENGTH = 120;

/** The part of a scope that is searched and listed. */
export type FindScope = ScopeCatalog & Pick<ScopeFacts, "notice" | "cursors">;

export async function searchTools(scope: FindScope, input: Input, request: ClientRequest): Promise<Raw> {
  const query = textOf(input, "query") ?? "";
  if (query.trim() === "")
    throw new MetaMcpError("validation_input", 'search_tools: "query" is empty: describe the task.', {
      op: "search_tools",
    });
  const unavailable = await loadLists(scope, request);
  const view = scope.view(request.origin);
  const { hits, bounded } = await hitsOf(view, query, {
    limit: itemsNeeded({ cursor: textOf(input, "cursor"), limit: numberOf(input, "limit") }),
  });
  const { snapshot } = view;
  const tools = hits.flatMap(({ server, name }) => snapshot.tool(server, name) ?? []);
  return toolPage(scope, request, {
    tools,
    unavailable,
    bounded,
    skills: input.has("cursor") ? [] : await skillsFound(scope, query, request),
    page: pageRequest(scope, input, request, ["search", query]),
  });
}

async function skillsFound(scope: FindScope, query: string, { origin }: ClientRequest) {
  const found = await skillsFor(scope, query, { origin, length: DESCRIPTION_LENGTH });
  return found.map(({ name, server, description, uri }) => ({
    name,
    namespace: server,
    shortDescription: description,
    uri,
  }));
}

export async function listTools(scope: FindScope, input: Input, request: ClientRequest): Promise<Raw> {
  const namespace = textOf(input, "namespace");
  if (namespace === BUILTIN_SERVER)
    return toolPage(scope, request, {
      tools: builtinTools(scope, request.origin),
      unavailable: [],
      page: pageRequest(scope, input, request, ["list", namespace]),
    });
  if (namespace !== undefined) requireServer(scope, namespace, request.origin, "list_namespaces");
  const unavailable = await loadLists(scope, request, namespace);
  const { listings } = scope.view(request.origin).snapshot;
  const selected = namespace === undefined ? [...listings.values()] : [listings.get(namespace)];
  const tools = selected
    .flatMap((listing) => listing?.tools ?? [])
    .toSorted((a, b) => compare(a.server, b.server) || compare(a.name, b.name));
  return toolPage(scope, request, {
    tools,
    unavailable,
    page: pageRequest(scope, input, request, ["list", namespace]),
  });
}

export async function listNamespaces(scope: FindScope, input: Input, request: ClientRequest): Promise<Raw> {
  const unavailable = await loadLists(scope, request);
  const { origin } = request;
  const names = [...scope.view(origin).snapshot.listings.keys()]
    .filter((server) => scope.has(server, origin))
    .toSorted(compare);
  const page = pageRequest(scope, input, request, ["namespaces"]);
  const { items: namespaces, nextCursor } = pageOf(names, (name) => name, page);
  return answer(request.origin, {
    structured: toRaw({ namespaces, nextCursor, unavailable }),
    note: scope.notice(),
  });
}

interface FoundTools {
  readonly tools: readonly Tool[];
  readonly unavailable: readonly Unavailable[];
  /** There are more hits than a search may return. */
  readonly bounded?: boolean;
  readonly skills?: readonly object[];
  readonly page: PageRequest;
}

function toolPage(scope: FindScope, { origin }: ClientRequest, found: FoundTools): Raw {
  const { unavailable, bounded, skills = [] } = found;
  const shown = pageOf(found.tools, toolId, found.page);
  const { nextCursor } = shown;
  // Only the last page is marked, because a client with a cursor can still read more.
  const truncated = bounded && nextCursor === undefined ? true : undefined;
  const tools = shown.items.map(brief);
  return answer(origin, {
    structured: toRaw({
      tools,
      ...(skills.length > 0 && { skills }),
      nextCursor,
      truncated,
      unavailable,
    }),
    note:
      [scope.notice(), truncated && boundedNote(scope.view(origin)), suspectNote(scope, shown.items, origin)]
        .filter(Boolean)
        .join("\n") || undefined,
  });
}

/** Loads unknown lists. Returns the servers that are unavailable. */
async function loadLists(
  scope: ScopeCatalog,
  { origin }: ClientRequest,
  only?: string,
): Promise<readonly Unavailable[]> {
  await scope.view(origin).loadCached();
  const unknown = await scope.loader.loadMissing(
    only === undefined ? [...scope.specs().keys()] : [only],
    origin,
  );
  await scope.pins.settled();
  return unavailableOf(scope, unknown, origin, only);
}

function pageRequest(
  scope: FindScope,
  input: Input,
  { origin }: ClientRequest,
  asked: readonly unknown[],
): PageRequest {
  return {
    cursor: textOf(input, "cursor"),
    limit: numberOf(input, "limit"),
    cursors: scope.cursors,
    binding: [...asked, ownerOf(origin), contentHash(scope.view(origin).snapshot)],
  };
}

function brief(tool: Tool) {
  const { name, server, description, title } = tool;
  return {
    id: toolId(tool),
    name,
    namespace: server,
    shortDescription: summarize(description || title || "", DESCRIPTION_LENGTH),
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

/** Tags of a tool: its annotations, and tags that its server put into `_meta`. */
const MAX_TAGS = 8;
const LONGEST_TAG = 40;

function tagsOf({ annotations, definition }: Tool): readonly string[] {
  const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = annotations;
  const declared = [
    ...(readOnlyHint === true ? ["read-only"] : []),
    ...(destructiveHint === true && readOnlyHint !== true ? ["destructive"] : []),
    ...(idempotentHint === true ? ["idempotent"] : []),
    ...(openWorldHint === true ? ["open-world"] : []),
  ];
  const meta = member(definition, "_meta");
  return [...new Set([...declared, ...(meta ? taggedIn(fromRaw(meta)) : [])])].slice(0, MAX_TAGS);
}

/** Frameworks keep tags in `_meta`, directly or one level below. */
function taggedIn(meta: unknown): readonly string[] {
  if (typeof meta !== "object" || meta === null) return [];
  return [meta, ...Object.values(meta)].flatMap((place: unknown) => {
    const tags = typeof place === "object" && place !== null && "tags" in place ? place.tags : undefined;
    return Array.isArray(tags)
      ? tags.filter((tag) => typeof tag === "string" && tag.length <= LONGEST_TAG)
      : [];
  });
}
