/** The JSON text of a row for audit log and live events, without the time and without the closing brace. */
import type { CallRow, Named } from "./call-schema.ts";
import { quoted, quotedObject } from "./quoted.ts";

export interface RowText {
  /**
   * The same text for all calls of one tool in a session while no name changes. Begins like an audit record.
   */
  readonly head: string;
  readonly rest: string;
}

const RECORD = '{"kind":"call",';

/** Only the members, without the beginning of the audit record. */
export function membersOf({ head, rest }: RowText): string {
  return head.slice(RECORD.length) + rest;
}

/**
 * Concatenates parts that most rows share. `JSON.stringify` of the whole row would cost four times as much.
 */
export function rowText(row: CallRow): RowText {
  const { traceId, request } = row;
  let rest = `,"outcome":"${row.outcome}","durationMs":${msText(row.durationMs)},"requestBytes":${row.requestBytes},"resultBytes":${row.resultBytes}`;
  if (traceId !== undefined) rest += `,"traceId":"${traceId}"`;
  if (request !== undefined) rest += `,"request":${JSON.stringify(request)}`;
  if (hasRareMember(row))
    for (const name of RARE) if (row[name] !== undefined) rest += `,"${name}":${JSON.stringify(row[name])}`;
  return { head: headOf(row), rest };
}

interface SessionHead {
  readonly endpoint: Named;
  readonly surface: string | undefined;
  readonly text: string;
  /** The head of the last called tool. */
  last: { readonly server: Named; readonly tool: string; readonly text: string } | undefined;
}

/** By principal, which is one object per session. */
const heads = new WeakMap<object, SessionHead>();

function headOf(row: CallRow): string {
  const { server, tool } = row;
  const session = sessionHead(row);
  if (session.last?.tool !== tool || session.last.server !== server) {
    const text = `${session.text},"server":${quotedObject(server)},"tool":${quoted(tool)}`;
    session.last = { server, tool, text };
  }
  return session.last.text;
}

/** The beginning of all rows of a session. It changes with the name of the endpoint and the surface. */
function sessionHead({ principal, client, endpoint, session, surface }: CallRow): SessionHead {
  const cached = heads.get(principal);
  if (cached && cached.endpoint.name === endpoint.name && cached.surface === surface) return cached;
  const members = JSON.stringify({ principal, client, endpoint, session, surface }).slice(1, -1);
  const created: SessionHead = { endpoint, surface, text: RECORD + members, last: undefined };
  heads.set(principal, created);
  return created;
}

const THOUSANDTHS = Array.from({ length: 1_000 }, (_, of) => (of === 0 ? "" : String(of / 1_000).slice(1)));

/**
 * Formats milliseconds with three decimals. Formatting a fraction as a number costs as much as everything
 * else here.
 */
function msText(ms: number): string {
  const thousandths = Math.round(ms * 1_000);
  return `${Math.floor(thousandths / 1_000)}${THOUSANDTHS[thousandths % 1_000]}`;
}

const RARE = [
  "via",
  "method",
  "code",
  "by",
  "place",
  "reason",
  "asked",
  "attempts",
  "cached",
  "read",
  "approval",
] as const satisfies readonly (keyof CallRow)[];

/**
 * Whether the row has one of the rare members. Checks them by name, because a loop over the list costs more
 * than writing the rest.
 */
function hasRareMember({ via, method, code, by, attempts, cached, read, approval }: CallRow): boolean {
  // Only a row with a code has a place, a reason or another name.
  return (via ?? method ?? code ?? by ?? attempts ?? cached ?? read ?? approval) !== undefined;
}
