/**
 * Routes for the table of all tools, for changing many tool rules in one revision, and for approving changed
 * tools.
 */

import { createHash } from "node:crypto";
import type { PinControl } from "../../gateway/control.ts";
import { present } from "../../gateway/present.ts";
import { setTools } from "../../gateway/set-tools.ts";
import { chosenBy } from "../../gateway/view/tool-change.ts";
import type { TableRow } from "../../gateway/view/tool-table.ts";
import { MetaMcpError } from "../../kernel/errors.ts";
import { costOf } from "../../kernel/tokens.ts";
import { type ToolUses, useOf } from "../../observe/live/tool-use.ts";
import { gather } from "../gather.ts";
import { matching, pageAfter } from "../page.ts";
import { Problem } from "../problem.ts";
import { DRY_RUN, LIST_QUERY, route, TAKE_OVER } from "../route.ts";
import { RETURNED_NAMESPACE } from "../schemas.ts";
import { connectionsOf, wholeStatus } from "../server-status.ts";
import { APPROVE_CHANGES, SET_TOOLS, TOOL_CHANGES, TOOL_TABLE } from "../tool-schemas.ts";
import { objectAt } from "./objects.ts";
import { type AdminParts, change, guardsOf, tagged } from "./parts.ts";

const DEFAULT_LIMIT = 1_000;
const MAX_ON_A_PAGE = 10_000;

export function toolRoutes(parts: AdminParts) {
  return [tableRoute(parts), setRoute(parts), ...changeRoutes(parts)];
}

function tableRoute(parts: AdminParts) {
  const { control, pins } = parts;
  return route({
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
    answer: TOOL_TABLE,
    async handle({ query, principal }) {
      const { servers, namespaces } = control.compiled;
      const { server, namespace } = query;
      const only = {
        server: server === undefined ? undefined : objectAt(parts, "server", server).uuid,
        namespace: namespace === undefined ? undefined : objectAt(parts, "namespace", namespace).uuid,
      };
      const rows = control
        .toolTable()
        .filter((row) => only.server === undefined || row.server === only.server)
        .filter(({ cells }) => only.namespace === undefined || cells.has(only.namespace));
      const found = matching(rows, query, (row) =>
        [row.tool, row.title, row.description, namesOf(row)].join("\n"),
      );
      const page = pageAfter(found, query, (row) => `${row.server} ${row.tool}`);
      const [connections, { since, used }] = await Promise.all([
        gather(parts, "connections", {}),
        useOfTools(parts),
      ]);
      const indexes = new Map([...namespaces.keys()].map((uuid, at) => [uuid, at]));
      return {
        body: {
          servers: [...servers.values()].map(({ object: { uuid, name } }) => ({
            uuid,
            name,
            state: wholeStatus(principal, connectionsOf(connections, uuid)).state,
          })),
          namespaces: [...namespaces.values()].map(({ object: { uuid, name, spec, managedBy } }) => ({
            uuid,
            name,
            newTools: spec.newTools,
            managedBy,
          })),
          since: new Date(since).toISOString(),
          pinned: pins.enforced,
          total: found.length,
          items: page.items.map((row) => shownRow(row, indexes, used)),
          ...(page.nextCursor === undefined ? {} : { nextCursor: page.nextCursor }),
        },
      };
    },
  });
}

/** From the store, so that restarts lose nothing. Without it, what replicas counted since their start. */
async function useOfTools(parts: AdminParts): Promise<{ since: number; used: readonly ToolUses[] }> {
  try {
    await gather(parts, "write-sums", {});
    const { since, used } = await parts.observed.usage.toolUse();
    return { since, used: [used] };
  } catch {
    const { parts: all } = await gather(parts, "tool-use", {});
    return {
      since: Math.min(...all.map(({ value }) => value.since)),
      used: all.map(({ value }) => value.used),
    };
  }
}

function namesOf({ cells }: TableRow): string {
  return [...cells.values()].map(({ override }) => override?.name ?? "").join(" ");
}

function shownRow(
  { cells, bytes, ...row }: TableRow,
  indexes: ReadonlyMap<string, number>,
  uses: readonly ToolUses[],
) {
  const placed = [...cells].map(([namespace, cell]) => [String(indexes.get(namespace)), cell] as const);
  const overridden = placed.flatMap(([at, { override }]) => (override ? [[at, override] as const] : []));
  const used = useOf(uses, row.server, row.tool);
  return {
    ...row,
    ...costOf(bytes),
    calls: used?.calls ?? 0,
    ...(used && { lastUsedAt: new Date(used.lastAt).toISOString() }),
    in: Object.fromEntries(placed.map(([at, { state }]) => [at, state])),
    ...(overridden.length > 0 && { overrides: Object.fromEntries(overridden) }),
  };
}

/**
 * Sends single rules instead of the whole list, so that two people who change different tools do not
 * overwrite each other.
 */
function setRoute(parts: AdminParts) {
  return route({
    method: "POST",
    path: "/namespaces/:uuid/tools",
    summary: "Change the rules of several tools in one revision",
    tag: "namespaces",
    action: "namespaces.write",
    query: { ...DRY_RUN, ...TAKE_OVER },
    body: SET_TOOLS,
    answer: RETURNED_NAMESPACE,
    async handle(request) {
      const { set } = request.body;
      const at = { namespace: request.params.uuid, ...guardsOf(request) };
      const done = await change(parts, request, (objects, context) => setTools(objects, at, set, context));
      if ("dry" in done) return done.dry;
      return tagged(done.outcome.object, present(done.outcome.object));
    },
  });
}

function changeRoutes(parts: AdminParts) {
  const { pins } = parts;
  return [
    route({
      method: "GET",
      path: "/mcp-servers/:uuid/changes",
      summary:
        "List what of the server changed since it was approved or has a hard sign, with the differences",
      tag: "mcp-servers",
      action: "objects.read",
      answer: TOOL_CHANGES,
      async handle({ params }) {
        const { uuid } = objectAt(parts, "server", params.uuid);
        return { body: await shownReview(pins, uuid) };
      },
    }),
    route({
      method: "POST",
      path: "/mcp-servers/:uuid/changes/approve",
      summary: "Approve the current tools, prompts and instructions of the server",
      tag: "mcp-servers",
      action: "servers.write",
      body: APPROVE_CHANGES,
      answer: TOOL_CHANGES,
      async handle({ params, body, recordChanges }) {
        const { uuid, name } = objectAt(parts, "server", params.uuid);
        const seen = pins.review(uuid);
        if (versionOf(seen) !== body.version) throw changedMeanwhile();
        try {
          await pins.approve(uuid, seen, chosenBy(body));
          await pins.approveSigns(uuid, body.signs ?? []);
        } catch (error) {
          throw MetaMcpError.is(error) ? changedMeanwhile() : error;
        }
        recordChanges([{ action: "approve", object: { kind: "server", uuid, name } }]);
        return { body: await shownReview(pins, uuid) };
      },
    }),
  ];
}

type Definition = Readonly<Record<string, unknown>>;
type Review = ReturnType<PinControl["review"]>;

async function shownReview(pins: PinControl, server: string) {
  const signs = await pins.signs(server);
  const review = pins.review(server);
  const { changes, removed, fault } = review;
  return {
    version: versionOf(review),
    items: changes.map(({ of, tool, kind, parts, signs, before, after }) => ({
      of,
      tool,
      kind,
      parts,
      signs,
      ...(before !== undefined && { before: JSON.parse(before) as Definition }),
      ...(after !== "" && { after: JSON.parse(after) as Definition }),
    })),
    removed,
    signs,
    ...(fault !== undefined && { fault }),
  };
}

function versionOf({ changes }: Review): string {
  const current = changes.map(({ of, tool, after }) => JSON.stringify([of, tool, after])).toSorted();
  return createHash("sha256").update(JSON.stringify(current)).digest("base64url");
}

function changedMeanwhile(): Problem {
  return new Problem(409, "the tools of the server changed in the meantime: review them again");
}
