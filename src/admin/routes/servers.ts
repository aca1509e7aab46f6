/** Routes for servers: the objects, import, reconnect, history and logs. */

import { patching } from "../../gateway/changes.ts";
import { namespacesWith } from "../../gateway/compile.ts";
import { STATUS_ENTRY } from "../../gateway/control.ts";
import { importingServers } from "../../gateway/import-servers.ts";
import type { StoredObject } from "../../gateway/objects.ts";
import { present } from "../../gateway/present.ts";
import {
  ANY_OBJECT,
  DATE,
  extended,
  list,
  object,
  type Static,
  TEXT,
  TEXTS,
} from "../../kernel/json-schema.ts";
import type { Principal } from "../../kernel/principal.ts";
import { gather, type Part, rowsOf } from "../gather.ts";
import { Problem } from "../problem.ts";
import { isStarted } from "../process-count.ts";
import { MISSING, SERVER_STATUS, type ServerStatus } from "../replica-schemas.ts";
import { DRY_RUN, route, TAKE_OVER } from "../route.ts";
import { NEW_SERVER, RETURNED_SERVER, SERVER_PATCH, SERVER_UPDATED } from "../schemas.ts";

import { shownTo } from "../server-output.ts";
import { connectionsOf, wholeStatus } from "../server-status.ts";
import { toolsRoute } from "./object-tools.ts";
import { createRoute, objectAt, readRoutes, removeRoute } from "./objects.ts";
import { type AdminParts, change, guardsOf, tagged } from "./parts.ts";

type ShownServer = Static<typeof RETURNED_SERVER>;

export function serverRoutes(parts: AdminParts) {
  const { control } = parts;
  const routed = {
    kind: "server",
    path: "/mcp-servers",
    returned: RETURNED_SERVER,
    created: NEW_SERVER,
    patched: SERVER_PATCH,
    editedBy: "servers.write",
    show: (object: StoredObject<"server">, principal: Principal): ShownServer => ({
      ...present(object),
      status: wholeStatus(principal, [{ status: control.statusOf(object.uuid) }]),
    }),
    async showAll(objects: readonly StoredObject<"server">[], principal: Principal) {
      const servers = objects.map(({ uuid }) => uuid);
      const all = await gather(parts, "connections", { servers });
      return objects.map((object) => ({
        ...present(object),
        status: wholeStatus(principal, connectionsOf(all, object.uuid), all.missing.missing),
      }));
    },
  } as const;
  return [
    ...readRoutes(parts, routed),
    toolsRoute(parts, routed),
    createRoute(parts, routed),
    changeServer(parts, routed.show),
    removeRoute(parts, routed),
    importRoute(parts),
    route({
      method: "POST",
      path: "/mcp-servers/:uuid/connect",
      summary: "Reconnect a server, even if it is connected; at all replicas that run it",
      tag: "mcp-servers",
      action: "servers.use",
      answer: object({ connection: SERVER_STATUS }),
      async handle({ params, principal }) {
        const { uuid } = objectAt(parts, "server", params.uuid);
        return { body: { connection: await reconnect(parts, uuid, principal) } };
      },
    }),
    route({
      method: "GET",
      path: "/mcp-servers/:uuid/history",
      summary: "Show the recent connection history of a server, newest first",
      tag: "mcp-servers",
      action: "objects.read",
      answer: object({ items: list(extended(STATUS_ENTRY, {}, { replica: TEXT })) }, { missing: MISSING }),
      async handle({ params, principal }) {
        const { uuid } = objectAt(parts, "server", params.uuid);
        const all = await gather(parts, "history", { server: uuid });
        // Stable, so that entries of a replica keep their order.
        const items = rowsOf(all).toSorted((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0));
        return { body: { items: items.map((entry) => shownTo(principal, entry)), ...all.missing } };
      },
    }),
    route({
      method: "GET",
      path: "/mcp-servers/:uuid/logs",
      summary: "Show the last lines of a server's stderr",
      tag: "mcp-servers",
      action: "servers.logs",
      query: {
        replica: { ...TEXT, description: "id of the replica; default: the first that has lines" },
      },
      answer: object(
        { items: TEXTS, times: { ...list(DATE), description: "when each was written" } },
        {
          replica: { ...TEXT, description: "whose lines these are, if there may be several replicas" },
          replicas: { ...TEXTS, description: "replicas with lines" },
          missing: MISSING,
        },
      ),
      async handle({ params, query }) {
        const { uuid } = objectAt(parts, "server", params.uuid);
        const { parts: all, missing } = await gather(parts, "logs", { server: uuid });
        const having = all.filter(({ value }) => value.length > 0);
        const isChosen = ({ replica }: Part<unknown>): boolean => replica === query.replica;
        const chosen = query.replica === undefined ? (having[0] ?? all[0]) : all.find(isChosen);
        if (!chosen) throw new Problem(404, `replica ${query.replica?.slice(0, 64)} does not answer`);
        const { replica, value: lines } = chosen;
        const items = lines.map(({ text }) => text);
        const times = lines.map(({ at }) => new Date(at).toISOString());
        if (replica === undefined) return { body: { items, times } };
        const replicas = having.map((one) => one.replica ?? "");
        return { body: { items, times, replica, replicas, ...missing } };
      },
    }),
  ];
}

/** A change waits so long for a server, and so does the answer of a replica. */
const RECONNECT_MS = 12_000;

/** Where nobody runs the server, it is connected here. */
async function reconnect(parts: AdminParts, server: string, principal: Principal): Promise<ServerStatus> {
  const servers = [server];
  const before = await gather(parts, "connections", { servers });
  if (!connectionsOf(before, server).some(({ status }) => isStarted(status))) {
    await parts.control.connect(server);
    const now = await gather(parts, "connections", { servers });
    return wholeStatus(principal, connectionsOf(now, server), now.missing.missing);
  }
  const { parts: after, missing } = await gather(parts, "connect", { server }, RECONNECT_MS);
  const all = after.map(({ replica, value: status }) => ({ replica, status }));
  return wholeStatus(principal, all, missing.missing);
}

/**
 * Responds when the whole update is done: stored, reconnected if connection settings changed, views compiled,
 * clients notified.
 */
function changeServer(
  parts: AdminParts,
  show: (object: StoredObject<"server">, principal: Principal) => ShownServer,
) {
  return route({
    method: "PATCH",
    path: "/mcp-servers/:uuid",
    summary: "Change a server: a JSON Merge Patch. It is reconnected if its connection settings changed",
    tag: "mcp-servers",
    // `change` refuses editors who change anything but `disabled`.
    action: "servers.switch",
    query: { ...DRY_RUN, ...TAKE_OVER },
    body: SERVER_PATCH,
    checksBody: true,
    answer: SERVER_UPDATED,
    async handle(request) {
      const at = {
        kind: "server" as const,
        reference: request.params.uuid,
        ...guardsOf(request),
      };
      const done = await change(parts, request, (objects, context) =>
        patching(objects, at, request.body, context),
      );
      if ("dry" in done) return done.dry;
      const { object } = done.outcome;
      const { control } = parts;
      return tagged(object, {
        message: "Server updated successfully" as const,
        server: show(object, request.principal),
        connection: shownTo(
          request.principal,
          done.connections.get(object.uuid) ?? control.statusOf(object.uuid),
        ),
        namespaces: namespacesWith(control.compiled, object.uuid),
      });
    },
  });
}

function importRoute(parts: AdminParts) {
  return route({
    method: "POST",
    path: "/mcp-servers/import",
    summary: "Import the servers of an .mcp.json: creates new ones and updates those with the same name",
    tag: "mcp-servers",
    action: "servers.write",
    query: { ...DRY_RUN, ...TAKE_OVER },
    body: object({ mcpServers: ANY_OBJECT }),
    checksBody: true,
    answer: object({ created: TEXTS, updated: TEXTS }, { warnings: TEXTS }),
    async handle(request) {
      const { takeOver = false } = request.query;
      const done = await change(parts, request, (objects, context) =>
        importingServers(objects, request.body, context, { takeOver }),
      );
      if ("dry" in done) return done.dry;
      const { created, updated, warnings } = done.outcome;
      return { body: { created, updated, ...(warnings.length > 0 ? { warnings } : {}) } };
    },
  });
}
