/** Route that repeats a recent call of a read-only tool: same account, same endpoint, same arguments. */

import { isRecord } from "../../kernel/is-record.ts";
import { fromRaw } from "../../kernel/raw.ts";
import type { CallWithArguments } from "../../observe/live/recent-calls.ts";
import { Problem } from "../problem.ts";
import { route } from "../route.ts";
import { TRY_EVENT } from "../try-schemas.ts";

import { callAt } from "./calls.ts";
import type { AdminParts } from "./parts.ts";
import { startTry, type TryStart } from "./trying-endpoints.ts";

export function replayRoutes(parts: AdminParts) {
  return [
    route({
      method: "POST",
      path: "/calls/:id/replay",
      summary: "Repeat one of the last calls of a read-only tool. Returns events like try",
      tag: "live",
      action: "servers.use",
      answer: TRY_EVENT,
      answerTypes: ["text/event-stream"],
      handle: (request) => startTry(parts, request, replayOf(parts, callAt(parts, request.params.id))),
    }),
  ];
}

/** Decides by the current annotations of the tool, not by those at the time of the call. */
function replayOf({ control }: AdminParts, call: CallWithArguments): TryStart {
  if (call.method) throw new Problem(409, "only tool calls can be repeated");
  const { endpoints } = control.compiled;
  const endpoint = call.endpoint.uuid === undefined ? undefined : endpoints.get(call.endpoint.uuid);
  if (!endpoint) throw new Problem(409, "the endpoint of this call is gone");
  const place = { kind: "endpoint", uuid: endpoint.object.uuid } as const;
  const row = control
    .toolsOf(place)
    .find(({ server, tool }) => server === call.server.uuid && tool === call.tool);
  const part = endpoint.parts.find((placed) => placed.part.server === row?.server)?.part;
  if (!row || !part) throw new Problem(409, "the endpoint no longer has this tool");
  if (row.annotations?.readOnlyHint !== true)
    throw new Problem(409, "only read-only tools can be called again");
  const sent = call.sent && fromRaw(call.sent);
  if (!isRecord(sent))
    throw new Problem(409, "the arguments of this call are not known: try it with new arguments");
  // Arguments that the namespace fixes are set again by the namespace.
  const set = part.rules.get(row.tool)?.args ?? {};
  const given = Object.entries(sent).filter(
    ([name]) => !(Object.hasOwn(set, name) && "fixed" in (set[name] ?? {})),
  );
  return {
    endpoint,
    as: call.principal.kind === "account" ? call.principal.id : undefined,
    tool: { server: part.name, tool: row.name },
    args: Object.fromEntries(given),
  };
}
