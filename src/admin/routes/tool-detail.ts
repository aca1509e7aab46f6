/** Routes that return one tool with its schemas, as a server, a namespace or an endpoint defines it. */

import { may } from "../../access/may.ts";
import type { Compiled } from "../../gateway/compile.ts";
import type { ToolPlace } from "../../gateway/control.ts";
import { awaitedBecause } from "../../gateway/view/tool-change.ts";
import type { Static, Written } from "../../kernel/json-schema.ts";
import type { Principal } from "../../kernel/principal.ts";
import { asRaw, toRaw } from "../../kernel/raw.ts";
import { costOf } from "../../kernel/tokens.ts";
import { modelBytes } from "../../rpc/model-bytes.ts";
import { Problem } from "../problem.ts";
import { type AdminAnswer, type ParamsOf, route } from "../route.ts";
import { TOOL_DETAIL } from "../schemas.ts";

import { AS, endpointAt, seenAs, userOf } from "./endpoint-use.ts";
import { objectAt } from "./objects.ts";
import type { AdminParts } from "./parts.ts";

export function toolDetailRoutes(parts: AdminParts) {
  return [
    route({
      method: "GET",
      path: "/mcp-servers/:uuid/tools/:tool",
      summary: "Read one tool of the server, with its schemas",
      tag: "mcp-servers",
      action: "objects.read",
      answer: TOOL_DETAIL,
      handle({ params }) {
        const { uuid } = objectAt(parts, "server", params.uuid);
        return detail(parts, { kind: "server", uuid }, { server: uuid, tool: params.tool });
      },
    }),
    route({
      method: "GET",
      path: "/namespaces/:uuid/tools/:server/:tool",
      summary: "Read one tool as the namespace defines it, by its server and its name there",
      tag: "namespaces",
      action: "objects.read",
      answer: TOOL_DETAIL,
      handle({ params }) {
        const { uuid } = objectAt(parts, "namespace", params.uuid);
        return detail(parts, { kind: "namespace", uuid }, referenceIn(parts, params));
      },
    }),
    route({
      method: "GET",
      path: "/endpoints/:uuid/tools/:server/:tool",
      summary: "Read one tool as clients of the endpoint see it, by its server and its name there",
      tag: "endpoints",
      action: "endpoints.use",
      query: AS,
      answer: TOOL_DETAIL,
      handle(request) {
        const { principal, query, params } = request;
        const endpoint = endpointAt(parts, request);
        const whole = may(principal, "objects.read");
        const user = query.as === undefined && whole ? undefined : userOf(parts, request, query.as);
        const { uuid } = endpoint.object;
        return detail(
          parts,
          { kind: "endpoint", uuid },
          {
            ...referenceIn(parts, params),
            ...(user && { as: seenAs(endpoint, user, request) }),
            hidden: whole,
          },
        );
      },
    }),
  ];
}

type ShownTool = Written<Static<typeof TOOL_DETAIL>>;

interface ToolReference {
  /** Its uuid. */
  readonly server: string;
  readonly tool: string;
  readonly as?: Principal;
  /** Also return hidden tools. */
  readonly hidden?: boolean;
}

function referenceIn(parts: AdminParts, params: ParamsOf<":server/:tool">): ToolReference {
  return { server: objectAt(parts, "server", params.server).uuid, tool: params.tool };
}

function detail(parts: AdminParts, place: ToolPlace, reference: ToolReference): AdminAnswer<ShownTool> {
  const { control } = parts;
  const { server, tool, as, hidden = true } = reference;
  const row = control.toolsOf(place, as).find((one) => one.server === server && one.tool === tool);
  const unapproved = hidden && (!row || row.missing) ? unapprovedTool(parts, place, reference) : undefined;
  if (unapproved) return { body: unapproved };
  if (!row || (!row.enabled && !hidden))
    throw new Problem(404, `there is no tool "${tool.slice(0, 128)}" here`);
  const { definition, own } = control.definitionsOf(place, row);
  const bytes = definition === undefined ? 0 : modelBytes(toRaw(definition));
  return {
    body: {
      ...row,
      ...costOf(bytes),
      ...(definition && { definition }),
      ...(own && { own }),
    },
  };
}

/** A tool that the server lists but that is blocked until an administrator approves it. */
function unapprovedTool(
  { control, pins }: AdminParts,
  place: ToolPlace,
  reference: ToolReference,
): ShownTool | undefined {
  const { server, tool } = reference;
  const change = pins.review(server).changes.find((one) => one.of === "tools" && one.tool === tool);
  if (!change || !serversOf(control.compiled, place).includes(server)) return undefined;
  const { after } = change;
  return {
    server,
    tool,
    name: tool,
    enabled: false,
    because: awaitedBecause(change),
    ...costOf(after === "" ? 0 : modelBytes(asRaw(Buffer.from(after)))),
    ...(after !== "" && { own: JSON.parse(after) as ShownTool["own"] }),
  };
}

function serversOf({ namespaces, endpoints }: Compiled, { kind, uuid }: ToolPlace): readonly string[] {
  if (kind === "server") return [uuid];
  if (kind === "namespace") return namespaces.get(uuid)?.parts.map(({ server }) => server) ?? [];
  return endpoints.get(uuid)?.parts.map(({ part }) => part.server) ?? [];
}
