/** Routes to try an endpoint in the console: call a tool with live events, and preview what a client sees. */

import type { ServerResponse } from "node:http";
import { may } from "../../access/may.ts";
import type { CompiledEndpoint } from "../../gateway/compile.ts";
import type { TriedTool, TryEvent } from "../../gateway/try-control.ts";
import { TRY_ANSWER } from "../../gateway/try-control.ts";
import { MetaMcpError } from "../../kernel/errors.ts";
import { type Static, TEXT } from "../../kernel/json-schema.ts";
import { actorOf } from "../../kernel/principal.ts";
import { RpcError } from "../../rpc/rpc-error.ts";
import { AtReplica } from "../at-replica.ts";
import { shownCall } from "../call-list.ts";
import { Problem } from "../problem.ts";
import { type AdminAnswer, type AdminRequest, route } from "../route.ts";
import { SHOWN_PREVIEW, TRY, TRY_EVENT } from "../try-schemas.ts";
import { TryStream } from "../try-stream.ts";
import { AS, accountUser, endpointAt, refusalOf, seenAs, userOf } from "./endpoint-use.ts";
import type { AdminParts } from "./parts.ts";

const HTML = "text/html; charset=utf-8";
/**
 * The page of a stranger: an origin of its own wherever it is opened, its scripts and styles inside of it,
 * and no requests. WebRTC stays open: no directive that browsers know closes it.
 */
const PAGE_HEADERS = {
  "content-security-policy": [
    "sandbox allow-scripts",
    "default-src 'none'",
    "script-src 'unsafe-inline'",
    "style-src 'unsafe-inline'",
    "img-src data:",
    "media-src data:",
    "font-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
  ].join("; "),
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
} as const;

export function endpointTryingRoutes(parts: AdminParts) {
  const { tries } = parts;
  return [
    route({
      method: "GET",
      path: "/endpoints/:uuid/preview",
      summary: "Show exactly what a client of the endpoint sees, and what it costs",
      tag: "endpoints",
      action: "endpoints.use",
      query: AS,
      answer: SHOWN_PREVIEW,
      async handle(request) {
        const endpoint = endpointAt(parts, request);
        const user = userOf(parts, request, request.query.as);
        const principal = seenAs(endpoint, user, request);
        const { uuid, name } = endpoint.object;
        const preview = await tries.preview(uuid, principal);
        if (!preview) throw notServed(endpoint);
        const refused = refusalOf(endpoint.object, user);
        const url = `${parts.inspector.url}/metamcp/${name}/mcp`;
        return { body: { as: actorOf(user.principal), ...(refused && { refused }), url, ...preview } };
      },
    }),
    route({
      method: "POST",
      path: "/endpoints/:uuid/try",
      summary:
        "Call a tool as a client of the endpoint, as yourself or, for administrators, as another account. Returns events; closing the connection cancels the call",
      tag: "endpoints",
      action: "endpoints.try",
      body: TRY,
      answer: TRY_EVENT,
      answerTypes: ["text/event-stream"],
      handle(request) {
        const { as, args, ...reference } = request.body;
        const endpoint = endpointAt(parts, request);
        return startTry(parts, request, { endpoint, as, args, tool: toolIn(reference, endpoint) });
      },
    }),
    route({
      method: "GET",
      path: "/endpoints/:uuid/app-page",
      summary:
        "Read the page of an app (MCP Apps) as a client of the endpoint. Its scripts run without our origin, and its requests are blocked",
      tag: "endpoints",
      action: "endpoints.try",
      query: {
        server: { ...TEXT, description: "uuid or name at the endpoint" },
        uri: { ...TEXT, description: "ui://…, as its tool names it" },
      },
      answer: TEXT,
      answerTypes: ["text/html"],
      async handle(request) {
        const { server = "", uri = "" } = request.query;
        if (!uri.startsWith("ui://")) throw new Problem(422, "uri must be the address of a page: ui://…");
        const endpoint = endpointAt(parts, request);
        const { principal } = triedAs(parts, request, { endpoint, as: undefined });
        const page = openTry(() =>
          tries.page(endpoint.object.uuid, principal, { server: serverAt(endpoint, server), uri }),
        );
        if (!page) throw notServed(endpoint);
        const content = await page.catch((error: unknown) => {
          throw error instanceof RpcError ? new Problem(404, error.message) : error;
        });
        return { text: { type: HTML, content }, headers: PAGE_HEADERS };
      },
    }),
    route({
      method: "POST",
      path: "/endpoints/:uuid/try/:id/answers",
      summary: "Answer a question of a call that you try",
      tag: "endpoints",
      action: "endpoints.try",
      body: TRY_ANSWER,
      handle({ params, body, principal, recordChanges }) {
        recordChanges([]);
        const done = tries.answer(params.id, principal, body);
        if (typeof done === "object") throw new AtReplica("this call", done.elsewhere);
        if (done === "unknown") throw new Problem(404, "you have no such running call");
        if (done === "answered") throw new Problem(409, "this question is no longer open");
        return {};
      },
    }),
  ];
}

export interface TryStart {
  readonly endpoint: CompiledEndpoint;
  readonly as: string | undefined;
  readonly tool: TriedTool;
  readonly args: Readonly<Record<string, unknown>>;
}

/** Starts the call. Refuses it if the endpoint would refuse the account. */
export function startTry(
  parts: AdminParts,
  request: AdminRequest,
  { endpoint, as, tool, args }: TryStart,
): AdminAnswer<never> {
  const { principal: asked, recordChanges } = request;
  const { principal, user } = triedAs(parts, request, { endpoint, as });
  const { actor, id: uuid, name = uuid } = user.principal;
  recordChanges(actor ? [{ action: "act-as", object: { kind: "user", uuid, name } }] : []);
  const tried = openTry(() => parts.tries.open({ endpoint: endpoint.object.uuid, principal, tool, args }));
  if (!tried) throw notServed(endpoint);
  const whole = may(asked, "arguments.read");
  const shown = (event: TryEvent): object =>
    "calls" in event
      ? {
          ...event,
          calls: event.calls.flatMap((id) => {
            const call = parts.observed.calls.get(id);
            return call ? [shownCall(parts, call, whole)] : [];
          }),
        }
      : event;
  return {
    events: (response: ServerResponse, reader) => new TryStream(tried, { response, reader, shown }).end,
  };
}

/** The principal of a tried call. Refuses it if the endpoint would refuse the account. */
function triedAs(
  parts: AdminParts,
  request: AdminRequest,
  { endpoint, as }: Pick<TryStart, "endpoint" | "as">,
) {
  // Keys may not try tools, except keys of administrators.
  const { principal } = request;
  if (principal.key && !may(principal, "people")) throw new Problem(403, "a key cannot try tools: log in");
  const user = accountUser(parts, request, as);
  const refused = refusalOf(endpoint.object, user);
  if (refused !== undefined) throw new Problem(404, `this account cannot use the endpoint: ${refused}`);
  return { user, principal: seenAs(endpoint, user, request) };
}

function toolIn(
  { name, server = "", tool = "" }: Omit<Static<typeof TRY>, "args">,
  endpoint: CompiledEndpoint,
) {
  if (name !== undefined) return { name };
  return { server: serverAt(endpoint, server), tool };
}

/** The name at the endpoint of a server that is given by its uuid or that name. */
function serverAt(endpoint: CompiledEndpoint, server: string): string {
  return endpoint.parts.find(({ part }) => part.server === server)?.part.name ?? server;
}

/** Maps errors to the status that clients of the endpoint get, e.g. 429 if there are too many calls. */
function openTry<T>(open: () => T): T {
  try {
    return open();
  } catch (error) {
    if (!MetaMcpError.is(error)) throw error;
    throw new Problem(error.code === "rate_limited" ? 429 : 503, error.message);
  }
}

function notServed({ object }: CompiledEndpoint): Problem {
  return new Problem(409, `the endpoint "${object.name}" is disabled`);
}
