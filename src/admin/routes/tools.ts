/** Routes for the table of all tools, for changing many tool rules in one revision, and for approving changed tools. */
import { createHash } from "node:crypto";
import type { PinControl } from "../../gateway/control.ts";
import { present } from "../../gateway/present.ts";
import { setTools, type ToolSetting } from "../../gateway/set-tools.ts";
import type { TableRow } from "../../gateway/view/tool-table.ts";
import { MetaMcpError } from "../../kernel/errors.ts";
import { costOf } from "../../kernel/tokens.ts";
import { matching, pageAfter } from "../page.ts";
import { Problem } from "../problem.ts";
import { DRY_RUN, LIST_QUERY, type Route, TAKE_OVER } from "../route.ts";
import { ref } from "../schemas.ts";
import { APPROVE_CHANGES, SET_TOOLS } from "../tool-schemas.ts";
import { objectAt } from "./objects.ts";
import { type AdminParts, change, checkedBody, guardsOf, tagged } from "./parts.ts";

const DEFAULT_LIMIT = 1_000;
const MAX_ON_A_PAGE = 10_000;

export function toolRoutes(parts: AdminParts): readonly Route[] {
  return [tableRoute(parts), setRoute(parts), ...changeRoutes(parts)];
}

function tableRoute(parts: AdminParts): Route {
  const { control, observed, pins } = parts;
  return {
    method: "GET",
    path: "/tools",
    summary: "List all tools of all servers with cost, use and their state in each namespace",
    tag: "tools",
    action: "objects.read",
    query: {
      limit: { ...LIST_QUERY.limit, maximum: MAX_ON_A_PAGE, default: DEFAULT_LIMIT },
      cursor: LIST_QUERY.cursor,
      q: { type: "string", description: "only tools with this text in the name, title or description" },
      server: { type: "string", description: "uuid or name" },
      namespace: { type: "string", description: "uuid or name: only tools of its servers" },
    },
    answer: ref("ToolTable"),
    handle({ query }) {
      const { servers, namespaces } = control.compiled;
      const [server, namespace] = [query.get("server"), query.get("namespace")];
      const only = {
        server: server === null ? undefined : objectAt(parts, "server", server).uuid,
        namespace: namespace === null ? undefined : objectAt(parts, "namespace", namespace).uuid,
      };
      const rows = control
        .toolTable()
        .filter((row) => only.server === undefined || row.server === only.server)
        .filter(({ cells }) => only.namespace === undefined || cells.has(only.namespace));
      const found = matching(rows, query, (row) =>
        [row.tool, row.title, row.description, namesOf(row)].join("\n"),
      );
      const page = pageAfter(found, query, {
        keyOf: (row) => `${row.server} ${row.tool}`,
        limit: Number(query.get("limit") ?? DEFAULT_LIMIT),
      });
      const indexes = new Map([...namespaces.keys()].map((uuid, at) => [uuid, at]));
      return {
        body: {
          servers: [...servers.values()].map(({ object: { uuid, name } }) => ({
            uuid,
            name,
            state: control.statusOf(uuid).state,
          })),
          namespaces: [...namespaces.values()].map(({ object: { uuid, name, spec, managedBy } }) => ({
            uuid,
            name,
            newTools: spec.newTools,
            managedBy,
          })),
          since: new Date(observed.use.since).toISOString(),
          pinned: pins.enforced,
          total: found.length,
          items: page.items.map((row) => shownRow(row, indexes, observed.use)),
          ...(page.nextCursor === undefined ? {} : { nextCursor: page.nextCursor }),
        },
      };
    },
  };
}

function namesOf({ cells }: TableRow): string {
  return [...cells.values()].map(({ override }) => override?.name ?? "").join(" ");
}

function shownRow(
  { cells, bytes, ...row }: TableRow,
  indexes: ReadonlyMap<string, number>,
  use: AdminParts["observed"]["use"],
): object {
  const placed = [...cells].map(([namespace, cell]) => [String(indexes.get(namespace)), cell] as const);
  const overridden = placed.flatMap(([at, { override }]) => (override ? [[at, override] as const] : []));
  const used = use.of(row.server, row.tool);
  return {
    ...row,
    ...costOf(bytes),
    calls: used?.calls ?? 0,
    ...(used && { lastUsedAt: new Date(used.lastAt).toISOString() }),
    in: Object.fromEntries(placed.map(([at, { state }]) => [at, state])),
    ...(overridden.length > 0 && { overrides: Object.fromEntries(overridden) }),
  };
}

/** Sends single rules instead of the whole list, so that two people who change different tools do not overwrite each other. */
function setRoute(parts: AdminParts): Route {
  return {
    method: "POST",
    path: "/namespaces/:uuid/tools",
    summary: "Change the rules of several tools in one revision",
    tag: "namespaces",
    action: "namespaces.write",
    query: { ...DRY_RUN, ...TAKE_OVER },
    body: ref("SetTools"),
    answer: ref("Namespace"),
    async handle(request) {
      const { set } = await checkedBody<{ set: readonly ToolSetting[] }>(SET_TOOLS, request.body ?? {});
      const at = { namespace: request.params["uuid"] ?? "", ...guardsOf(request) };
      const done = await change(parts, request, (objects, context) => setTools(objects, at, set, context));
      if ("dry" in done) return done.dry;
      return tagged(done.outcome.object, present(done.outcome.object));
    },
  };
}

function changeRoutes(parts: AdminParts): readonly Route[] {
  const { pins } = parts;
  return [
    {
      method: "GET",
      path: "/mcp-servers/:uuid/changes",
      summary: "List the tools of the server that changed since they were approved, with the differences",
      tag: "mcp-servers",
      action: "objects.read",
      answer: ref("ToolChanges"),
      handle({ params }) {
        const { uuid } = objectAt(parts, "server", params["uuid"] ?? "");
        return { body: shownReview(pins.review(uuid)) };
      },
    },
    {
      method: "POST",
      path: "/mcp-servers/:uuid/changes/approve",
      summary: "Approve the current tools of the server",
      tag: "mcp-servers",
      action: "servers.write",
      body: ref("ApproveChanges"),
      answer: ref("ToolChanges"),
      async handle({ params, body, recordChanges }) {
        const given = await checkedBody<{ version: string; tools?: readonly string[] }>(
          APPROVE_CHANGES,
          body ?? {},
        );
        const { uuid, name } = objectAt(parts, "server", params["uuid"] ?? "");
        const seen = pins.review(uuid);
        if (versionOf(seen) !== given.version) throw changedMeanwhile();
        await pins.approve(uuid, seen, given.tools && new Set(given.tools)).catch((error: unknown) => {
          throw MetaMcpError.is(error) ? changedMeanwhile() : error;
        });
        recordChanges([{ action: "approve", object: { kind: "server", uuid, name } }]);
        return { body: shownReview(pins.review(uuid)) };
      },
    },
  ];
}

type Review = ReturnType<PinControl["review"]>;

function shownReview(review: Review): object {
  const { changes, removed, fault } = review;
  return {
    version: versionOf(review),
    items: changes.map(({ tool, kind, parts, before, after }) => ({
      tool,
      kind,
      parts,
      ...(before !== undefined && { before: JSON.parse(before) as unknown }),
      ...(after !== "" && { after: JSON.parse(after) as unknown }),
    })),
    removed,
    ...(fault !== undefined && { fault }),
  };
}

function versionOf({ changes }: Review): string {
  const current = changes.map(({ tool, after }) => JSON.stringify([tool, after])).toSorted();
  return createHash("sha256").update(JSON.stringify(current)).digest("base64url");
}

function changedMeanwhile(): Problem {
  return new Problem(409, "the tools of the server changed in the meantime: review them again");
}
