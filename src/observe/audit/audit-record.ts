/** Converts events to audit records. */
import type { AdminChange, CallEnded, LoginTried } from "../../kernel/events.ts";
import type { AuditRecord } from "../../store/store.ts";
import { whoOf } from "../call-row.ts";
import type { RowText } from "../row-text.ts";
import { auditArguments, auditResult } from "./audit-value.ts";

const DEFAULT_DETAIL = { arguments: "names", results: "names" } as const;

/**
 * The text of the row, with arguments and results. Values are recorded only as they left the pipeline. If a layer refused the
 * call, inner layers have not redacted the values, so only names are recorded.
 */
export function recordOfCall({ head, rest }: RowText, ended: CallEnded): AuditRecord {
  const { trail } = ended;
  const keep = trail.keep ?? DEFAULT_DETAIL;
  const sent = trail.arguments;
  const args = sent
    ? auditArguments(sent, keep.arguments)
    : auditArguments(ended.arguments, keep.arguments === "none" ? "none" : "names");
  const results = auditResult(ended.result, keep.results);
  let body = rest;
  if (args !== undefined) body += `,"arguments":${args}`;
  if (results !== undefined) body += `,"results":${results}`;
  body += "}";
  // Flattens the string. Otherwise the garbage collector would copy dozens of pieces while the record waits.
  body.charCodeAt(0);
  return { at: ended.at, head, body };
}

export function recordOfAdmin(change: AdminChange): AuditRecord {
  const { at, principal, action, object, revision, outcome } = change;
  const who = whoOf(principal);
  return {
    at,
    body: JSON.stringify({ kind: "admin", principal: who, action, object, outcome, revision }),
  };
}

export function recordOfLogin(login: LoginTried): AuditRecord {
  const { at, principal, outcome, by, address, client, endpoint, server, reason, tried } = login;
  const who = principal && whoOf(principal);
  return {
    at,
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
    }),
  };
}
