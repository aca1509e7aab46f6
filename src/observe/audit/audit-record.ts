/** What the audit log keeps of an event. */
import type { AdminChange, CallEnded, LoginTried } from "../../kernel/events.ts";
import type { AuditRecord } from "../../store/store.ts";
import { whoOf } from "../call-row.ts";
import type { RowText } from "../row-text.ts";
import { keptArguments, keptResult } from "./kept-value.ts";

const BY_DEFAULT = { arguments: "names", results: "names" } as const;

/**
 * Its row, written, and more. Values are told only as they left the pipeline. Where a layer refused, those further in redacted
 * nothing yet: names alone are told.
 */
export function recordOfCall({ head, rest }: RowText, ended: CallEnded): AuditRecord {
  const { trail } = ended;
  const keep = trail.keep ?? BY_DEFAULT;
  const sent = trail.arguments;
  const args = sent
    ? keptArguments(sent, keep.arguments)
    : keptArguments(ended.arguments, keep.arguments === "none" ? "none" : "names");
  const results = keptResult(ended.result, keep.results);
  let body = rest;
  if (args !== undefined) body += `,"arguments":${args}`;
  if (results !== undefined) body += `,"results":${results}`;
  body += "}";
  // As one piece: in dozens it would be copied piece by piece by the garbage collection while it waits.
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
  const { at, principal, outcome, by, address, client, endpoint, server } = login;
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
    }),
  };
}
