/** What the audit log keeps of an event. `fields` is what can be asked for. */
import type { AdminChange, CallEnded, LoginTried } from "../../kernel/events.ts";
import type { AuditRecord } from "../../store/store.ts";
import { type CallRow, type Who, whoOf } from "../call-row.ts";
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
  const { at, ...rest } = row;
  const told = JSON.stringify({ kind: "call", ...rest });
  const values = [
    ...(args === undefined ? [] : [`"arguments":${args}`]),
    ...(results === undefined ? [] : [`"results":${results}`]),
  ];
  const body = values.length === 0 ? told : `${told.slice(0, -1)},${values.join()}}`;
  return { at, fields: callFields(row), body };
}

export function recordOfAdmin(change: AdminChange): AuditRecord {
  const { at, principal, action, object, revision, outcome } = change;
  const who = whoOf(principal);
  return {
    at,
    fields: given({
      kind: "admin",
      ...principalFields(who),
      outcome,
      action,
      objectKind: object.kind,
      object: object.uuid,
      objectName: object.name,
      revision: revision === undefined ? undefined : String(revision),
    }),
    body: JSON.stringify({ kind: "admin", principal: who, action, object, outcome, revision }),
  };
}

export function recordOfLogin(login: LoginTried): AuditRecord {
  const { at, principal, outcome, by, address, client, endpoint, server } = login;
  const who = principal && whoOf(principal);
  return {
    at,
    fields: given({
      kind: "login",
      ...(who && principalFields(who)),
      outcome,
      action: by,
      client,
      endpointName: endpoint,
      server: server?.uuid,
      serverName: server?.name,
      address,
    }),
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

function callFields(row: CallRow): Readonly<Record<string, string>> {
  const { principal, client, endpoint, server } = row;
  return given({
    kind: "call",
    ...principalFields(principal),
    client: client?.name,
    endpoint: endpoint.uuid,
    endpointName: endpoint.name,
    session: row.session,
    surface: row.surface,
    via: row.via,
    server: server.uuid,
    serverName: server.name,
    tool: row.tool,
    outcome: row.outcome,
    code: row.code,
    by: row.by,
    traceId: row.traceId,
    attempts: row.attempts === undefined ? undefined : String(row.attempts),
    cached: row.cached && "true",
    approvedBy: row.approval?.by.id,
  });
}

function principalFields({ kind, id, name, key, actor }: Who): Readonly<Record<string, string | undefined>> {
  return { principal: id, principalKind: kind, principalName: name, key: key?.id, actor: actor?.id };
}

function given(fields: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> {
  const there: Record<string, string> = {};
  for (const name in fields) {
    const value = fields[name];
    if (value !== undefined) there[name] = value;
  }
  return there;
}
