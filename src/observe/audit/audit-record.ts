/** What the audit log keeps of an event. `fields` is what can be asked for. */
import type { AdminChange, CallEnded, LoginTried } from "../../kernel/events.ts";
import type { AuditRecord } from "../../store/store.ts";
import { type CallActor, type CallRow, whoOf } from "../call-row.ts";
import { keptArguments, keptResult } from "./kept-value.ts";

const BY_DEFAULT = { arguments: "names", results: "names" } as const;

/** Values are told only as they left the pipeline. Where a layer refused, those further in redacted nothing yet: names alone are told. */
export function recordOfCall(row: CallRow, ended: CallEnded): AuditRecord {
  const { trail } = ended;
  const keep = trail.keep ?? BY_DEFAULT;
  const sent = trail.arguments;
  const args = sent
    ? keptArguments(sent, keep.arguments)
    : keptArguments(ended.arguments, keep.arguments === "none" ? "none" : "names");
  const results = keptResult(ended.result, keep.results);
  const told = bodyOf(row);
  const values = [
    ...(args === undefined ? [] : [`"arguments":${args}`]),
    ...(results === undefined ? [] : [`"results":${results}`]),
  ];
  const body = values.length === 0 ? told : `${told.slice(0, -1)},${values.join()}}`;
  return { at: row.at, fields: callFields(row), body };
}

/** Without the time, which stands beside it: a row begins with it, and cutting is much cheaper than copying all the rest. */
function bodyOf(row: CallRow): string {
  const text = JSON.stringify(row);
  return `{"kind":"call",${text.slice(text.indexOf(",") + 1)}`;
}

export function recordOfAdmin(change: AdminChange): AuditRecord {
  const { at, principal, action, object, revision, outcome } = change;
  const who = whoOf(principal);
  return {
    at,
    fields: {
      kind: "admin",
      ...principalFields(who),
      outcome,
      action,
      objectKind: object.kind,
      object: object.uuid,
      objectName: object.name,
      revision: revision === undefined ? undefined : String(revision),
    },
    body: JSON.stringify({ kind: "admin", principal: who, action, object, outcome, revision }),
  };
}

export function recordOfLogin(login: LoginTried): AuditRecord {
  const { at, principal, outcome, by, address, client, endpoint, server } = login;
  const who = principal && whoOf(principal);
  return {
    at,
    fields: {
      kind: "login",
      ...(who && principalFields(who)),
      outcome,
      action: by,
      client,
      endpointName: endpoint,
      server: server?.uuid,
      serverName: server?.name,
      address,
    },
    body: JSON.stringify({
      kind: "login",
      principal: who,
      action: by,
      client: client === undefined ? undefined : { name: client },
      endpoint: endpoint === undefined ? undefined : { name: endpoint },
      server,
      outcome,
      address,
    }),
  };
}

function callFields(row: CallRow): AuditRecord["fields"] {
  const { principal, client, endpoint, server } = row;
  return {
    kind: "call",
    principal: principal.id,
    principalKind: principal.kind,
    principalName: principal.name,
    key: principal.key?.id,
    actor: principal.actor?.id,
    client: client?.name,
    endpoint: endpoint.uuid,
    endpointName: endpoint.name,
    session: row.session,
    surface: row.surface,
    via: row.via,
    server: server.uuid,
    serverName: server.name,
    method: row.method,
    tool: row.tool,
    outcome: row.outcome,
    code: row.code,
    by: row.by,
    traceId: row.traceId,
    attempts: row.attempts === undefined ? undefined : String(row.attempts),
    cached: row.cached && "true",
    approvedBy: row.approval?.by.id,
  };
}

function principalFields({ kind, id, name, key, actor }: CallActor): AuditRecord["fields"] {
  return { principal: id, principalKind: kind, principalName: name, key: key?.id, actor: actor?.id };
}
