/** Routes to try an endpoint in the console: call a tool with live events, and preview what a client sees. */
import type { ServerResponse } from "node:http";
import { may } from "../../access/may.ts";
import type { CompiledEndpoint } from "../../gateway/compile.ts";
import type { TriedTool, TryAnswer, TryEvent } from "../../gateway/try-control.ts";
import { MetaMcpError } from "../../kernel/errors.ts";
import { Problem } from "../problem.ts";
import type { AdminAnswer, AdminRequest, Route } from "../route.ts";
import { ref } from "../schemas.ts";
import { TRY, TRY_ANSWER } from "../try-schemas.ts";
import { TryStream } from "../try-stream.ts";
import { shownCall } from "./calls.ts";
import { AS, accountUser, endpointAt, refusalOf, seenAs, userOf } from "./endpoint-use.ts";
import { type AdminParts, checkedBody } from "./parts.ts";

interface TryBody {
  readonly as?: string;
  readonly name?: string;
  readonly server?: string;
  readonly tool?: string;
  readonly args: Readonly<Record<string, unknown>>;
}

export function endpointTryingRoutes(parts: AdminParts): readonly Route[] {
  const { tries } = parts;
  return [
    {
      method: "GET",
      path: "/endpoints/:uuid/preview",
      summary: "Show exactly what a client of the endpoint sees, and what it costs",
      tag: "endpoints",
      action: "endpoints.use",
      query: AS,
      answer: ref("Preview"),
      async handle(request) {
        const endpoint = endpointAt(parts, request);
        const user = userOf(parts, request, request.query.get("as"));
        const principal = seenAs(endpoint, user, request);
        const { uuid, name } = endpoint.object;
        const preview = await tries.preview(uuid, principal);
        if (!preview) throw notServed(endpoint);
        const refused = refusalOf(endpoint.object, user);
        const { kind, id, name: displayName = id } = user.principal;
        const url = `${parts.inspector.url}/metamcp/${name}/mcp`;
        return {
          body: { as: { kind, id, name: displayName }, ...(refused && { refused }), url, ...preview },
        };
      },
    },
    {
      method: "POST",
      path: "/endpoints/:uuid/try",
      summary:
        "Call a tool as a client of the endpoint, as yourself or, for administrators, as another account. Returns events; closing the connection cancels the call",
      tag: "endpoints",
      action: "endpoints.try",
      body: ref("Try"),
      answer: ref("TryEvent"),
      answerTypes: ["text/event-stream"],
      async handle(request) {
        const { as = null, args, ...reference } = await checkedBody<TryBody>(TRY, request.body ?? {});
        const endpoint = endpointAt(parts, request);
        return startTry(parts, request, { endpoint, as, args, tool: toolIn(reference, endpoint) });
      },
    },
    {
      method: "POST",
      path: "/endpoints/:uuid/try/:id/answers",
      summary: "Answer a question of a call that you try",
      tag: "endpoints",
      action: "endpoints.try",
      body: ref("TryAnswer"),
      async handle({ params, body, principal, recordChanges }) {
        recordChanges([]);
        const answer = await checkedBody<TryAnswer>(TRY_ANSWER, body ?? {});
        const done = tries.answer(params["id"] ?? "", principal, answer);
        if (done === "unknown") throw new Problem(404, "you have no such running call");
        if (done === "answered") throw new Problem(409, "this question is no longer open");
        return {};
      },
    },
  ];
}

export interface TryStart {
  readonly endpoint: CompiledEndpoint;
  readonly as: string | null;
  readonly tool: TriedTool;
  readonly args: Readonly<Record<string, unknown>>;
}

/** Starts the call. Refuses it if the endpoint would refuse the account. */
export function startTry(
  parts: AdminParts,
  request: AdminRequest,
  { endpoint, as, tool, args }: TryStart,
): AdminAnswer {
  const { principal, recordChanges } = request;
  // Keys may not try tools, except keys of administrators.
  if (principal.key && !may(principal, "people")) throw new Problem(403, "a key cannot try tools: log in");
  const user = accountUser(parts, request, as);
  const refused = refusalOf(endpoint.object, user);
  if (refused !== undefined) throw new Problem(404, `this account cannot use the endpoint: ${refused}`);
  const { actor } = user.principal;
  const { id: uuid, name = uuid } = user.principal;
  recordChanges(actor ? [{ action: "act-as", object: { kind: "user", uuid, name } }] : []);
  const tried = openTry(() =>
    parts.tries.open({
      endpoint: endpoint.object.uuid,
      principal: seenAs(endpoint, user, request),
      tool,
      args,
    }),
  );
  if (!tried) throw notServed(endpoint);
  const whole = may(principal, "arguments.read");
  const shown = (event: TryEvent): object =>
    "calls" in event
      ? {
          ...event,
          calls: event.calls.flatMap((id) => {
            const call = parts.observed.calls.get(id);
            return call ? [shownCall(call, whole)] : [];
          }),
        }
      : event;
  return {
    events: (response: ServerResponse, reader) => new TryStream(tried, { response, reader, shown }).end,
  };
}

function toolIn({ name, server = "", tool = "" }: Omit<TryBody, "as" | "args">, endpoint: CompiledEndpoint) {
  if (name !== undefined) return { name };
  const known = endpoint.parts.find(({ part }) => part.server === server);
  return { server: known?.part.name ?? server, tool };
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
