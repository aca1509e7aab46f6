/** Converts events to audit records. */
import type { Call } from "../../kernel/call.ts";
import type {
  AdminChange,
  CallEnded,
  CallFailure,
  CredentialRefused,
  EgressTried,
  LoginTried,
} from "../../kernel/events.ts";
import { shareOf } from "../../kernel/principal.ts";
import { shownText } from "../../kernel/shown-value.ts";
import { member } from "../../rpc/slice.ts";
import { beginningOf, whoOf } from "../call-row.ts";
import type { Names } from "../names.ts";
import type { RowText } from "../row-text.ts";
import type { OwnedRecord } from "./audit-log.ts";
import { auditArguments, auditResult } from "./audit-value.ts";

/** All who are not logged in share the room of one caller. */
export const STRANGERS = "strangers";
const DEFAULT_DETAIL = { arguments: "names", results: "names" } as const;

/** The text of the row, with arguments and results. */
export function recordOfCall({ head, rest }: RowText, ended: CallEnded): OwnedRecord {
  const { trail } = ended;
  const args = keptArguments(ended);
  const results = keptResult(ended);
  let body = rest;
  if (trail.begun !== undefined) body += `,"call":"${trail.begun}"`;
  if (args !== undefined) body += `,"arguments":${args}`;
  if (results !== undefined) body += `,"results":${results}`;
  body += "}";
  // Flattens the string. Otherwise the garbage collector would copy dozens of pieces while the record waits.
  body.charCodeAt(0);
  return { at: ended.at, head, body, owner: shareOf(ended.origin.principal) };
}

/**
 * Values are kept only as they left the pipeline. If the call reached no server, inner layers may not have
 * redacted them: then they are kept as the layers that mask would pass them on, and without such a form only
 * names.
 */
function keptArguments({ trail, failure, arguments: given }: CallEnded): string | undefined {
  const { arguments: detail } = trail.keep ?? DEFAULT_DETAIL;
  if (trail.arguments) return auditArguments(trail.arguments, detail);
  if (detail === "none" || detail === "names") return auditArguments(given, detail);
  const masked = failure?.arguments;
  return masked ? auditArguments(masked, "redacted") : auditArguments(given, "names");
}

/**
 * The result of a call as JSON, as far as the layer `audit` keeps it. Of a failed one at least what the
 * server said, unless nothing of results is kept.
 */
export function keptResult({ trail, failure, result }: CallEnded): string | undefined {
  const { results: detail } = trail.keep ?? DEFAULT_DETAIL;
  const isValue = detail === "redacted" || detail === "full";
  const said = failure && detail !== "none" && !(result && isValue) ? saidBy(failure) : undefined;
  return said ?? auditResult(result, detail);
}

const LONGEST_ERROR = 2_000;

function saidBy({ error, output }: CallFailure): string | undefined {
  if (error === undefined && output === undefined) return undefined;
  const shown = (text: string | undefined) => text && shownText(text, LONGEST_ERROR);
  return JSON.stringify({ error: shown(error), output: shown(output) });
}

/**
 * Written before a call whose record is required. Inner layers have not redacted the values yet, so only
 * names are recorded.
 */
export function recordOfBeginning(call: Call, id: string, names: Names): OwnedRecord {
  const at = Date.now();
  const { principal } = call.origin;
  const args = auditArguments(member(call.params, "arguments"), "names");
  const members = { kind: "begun", ...beginningOf(call, names), outcome: "ok", call: id };
  const body = JSON.stringify(members).slice(0, -1) + (args === undefined ? "}" : `,"arguments":${args}}`);
  return { at, body, owner: shareOf(principal) };
}

export function recordOfAdmin(change: AdminChange): OwnedRecord {
  const { at, principal, action, object, revision, outcome, request } = change;
  const who = whoOf(principal);
  return {
    at,
    owner: principal.id,
    body: JSON.stringify({ kind: "admin", principal: who, action, object, outcome, revision, request }),
  };
}

export function recordOfLogin(login: LoginTried): OwnedRecord {
  const { at, principal, outcome, by, address, client, endpoint, server, reason, tried, request } = login;
  const who = principal && whoOf(principal);
  return {
    at,
    owner: principal?.id ?? STRANGERS,
    body: JSON.stringify({
      kind: "login",
      principal: who,
      action: by,
      client: client === undefined ? undefined : { name: client },
      endpoint: endpoint === undefined ? undefined : { name: endpoint },
      server,
      outcome,
      address,
      reason,
      tried,
      request,
    }),
  };
}

export function recordOfEgress({ at, server, host, port, refused }: EgressTried, names: Names): OwnedRecord {
  return {
    at,
    owner: server,
    body: JSON.stringify({
      kind: "egress",
      server: { uuid: server, name: names.server(server) ?? server },
      outcome: refused === undefined ? "ok" : "refused",
      address: `${host}:${port}`,
      reason: refused,
    }),
  };
}

/** Equal refusals have one record with their number. */
export function recordOfCredential(refused: CredentialRefused): OwnedRecord {
  const { at, by, count, since, address, endpoint } = refused;
  return {
    at,
    owner: STRANGERS,
    body: JSON.stringify({
      kind: "login",
      action: by,
      endpoint: endpoint === undefined ? undefined : { name: endpoint },
      outcome: "refused",
      address,
      reason: "unknown or expired credential",
      ...(count > 1 && { count, since: new Date(since).toISOString() }),
    }),
  };
}
