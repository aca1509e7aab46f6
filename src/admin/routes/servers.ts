/** Routes for servers: the objects, import, reconnect, history and logs. */
import { patch } from "../../gateway/changes.ts";
import { namespacesWith } from "../../gateway/compile.ts";
import { importServers } from "../../gateway/import-servers.ts";
import type { StoredObject } from "../../gateway/objects.ts";
import { present } from "../../gateway/present.ts";
import { isRecord } from "../../kernel/is-record.ts";
import type { Principal } from "../../kernel/principal.ts";
import { refuseManyObjects } from "../many-objects.ts";
import { DRY_RUN, type Route, TAKE_OVER } from "../route.ts";
import { ref } from "../schemas.ts";
import { shownTo } from "../server-output.ts";
import { toolsRoute } from "./object-tools.ts";
import { createRoute, objectAt, type Routed, readRoutes, removeRoute } from "./objects.ts";
import { type AdminParts, change, guardsOf, isOn, tagged } from "./parts.ts";

const ENTRIES = { type: "array", items: ref("StatusEntry") } as const;
const NAMES = { type: "array", items: { type: "string" } } as const;

export function serverRoutes(parts: AdminParts): readonly Route[] {
  const { control } = parts;
  const show = (object: StoredObject<"server">, principal: Principal): object => ({
    ...present(object),
    status: shownTo(principal, control.statusOf(object.uuid)),
  });
  const routed: Routed<"server"> = {
    kind: "server",
    path: "/mcp-servers",
    schema: "Server",
    editedBy: "servers.write",
    show,
  };
  return [
    ...readRoutes(parts, routed),
    toolsRoute(parts, routed),
    createRoute(parts, routed),
    changeServer(parts, show),
    removeRoute(parts, routed),
    importRoute(parts),
    {
      method: "POST",
      path: "/mcp-servers/:uuid/connect",
      summary: "Reconnect a server, even if it is connected",
      tag: "mcp-servers",
      action: "servers.use",
      answer: { type: "object", properties: { connection: ref("Connection") }, required: ["connection"] },
      async handle({ params, principal }) {
        const { uuid } = objectAt(parts, "server", params["uuid"] ?? "");
        return { body: { connection: shownTo(principal, await control.connect(uuid)) } };
      },
    },
    {
      method: "GET",
      path: "/mcp-servers/:uuid/history",
      summary: "Show the recent connection history of a server, newest first",
      tag: "mcp-servers",
      action: "objects.read",
      answer: { type: "object", properties: { items: ENTRIES }, required: ["items"] },
      handle({ params, principal }) {
        const { uuid } = objectAt(parts, "server", params["uuid"] ?? "");
        return { body: { items: control.historyOf(uuid).map((entry) => shownTo(principal, entry)) } };
      },
    },
    {
      method: "GET",
      path: "/mcp-servers/:uuid/logs",
      summary: "Show the last lines of a server's stderr",
      tag: "mcp-servers",
      action: "servers.logs",
      answer: { type: "object", properties: { items: NAMES }, required: ["items"] },
      handle({ params }) {
        const { uuid } = objectAt(parts, "server", params["uuid"] ?? "");
        return { body: { items: control.logsOf(uuid) } };
      },
    },
  ];
}

/** Responds when the whole update is done: stored, reconnected if connection settings changed, views compiled, clients notified. */
function changeServer(
  parts: AdminParts,
  show: (object: StoredObject<"server">, principal: Principal) => object,
): Route {
  return {
    method: "PATCH",
    path: "/mcp-servers/:uuid",
    summary: "Change a server: a JSON Merge Patch. It is reconnected if its connection settings changed",
    tag: "mcp-servers",
    // `change` refuses editors who change anything but `disabled`.
    action: "servers.switch",
    query: { ...DRY_RUN, ...TAKE_OVER },
    body: ref("ServerPatch"),
    answer: ref("ServerUpdated"),
    async handle(request) {
      const at = {
        kind: "server" as const,
        reference: request.params["uuid"] ?? "",
        ...guardsOf(request),
      };
      const done = await change(parts, request, (objects, context) =>
        patch(objects, at, request.body, context),
      );
      if ("dry" in done) return done.dry;
      const { object } = done.outcome;
      const { control } = parts;
      return tagged(object, {
        message: "Server updated successfully",
        server: show(object, request.principal),
        connection: shownTo(
          request.principal,
          done.connections.get(object.uuid) ?? control.statusOf(object.uuid),
        ),
        namespaces: namespacesWith(control.compiled, object.uuid),
      });
    },
  };
}

function importRoute(parts: AdminParts): Route {
  return {
    method: "POST",
    path: "/mcp-servers/import",
    summary: "Import the servers of an .mcp.json: creates new ones and updates those with the same name",
    tag: "mcp-servers",
    action: "servers.write",
    query: { ...DRY_RUN, ...TAKE_OVER },
    body: { type: "object", properties: { mcpServers: { type: "object" } }, required: ["mcpServers"] },
    answer: {
      type: "object",
      properties: { created: NAMES, updated: NAMES, warnings: NAMES },
      required: ["created", "updated"],
    },
    async handle(request) {
      const takeOver = isOn(request.query, "takeOver");
      refuseManyObjects(isRecord(request.body) ? [request.body["mcpServers"]] : []);
      const done = await change(parts, request, (objects, context) =>
        importServers(objects, request.body, context, { takeOver }),
      );
      if ("dry" in done) return done.dry;
      const { created, updated, warnings } = done.outcome;
      return { body: { created, updated, ...(warnings.length > 0 ? { warnings } : {}) } };
    },
  };
}
